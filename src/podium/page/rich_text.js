// HTML from podium.page.markup: cleaned once more, and its formulas laid out as MathML by the KaTeX of the NiceGUI wheel.
const MOST_FORMULAS = 300;

export default {
  template: `<div class="rich"></div>`,
  props: { html: String, katex: String },
  data() {
    return { shown: null };
  },
  mounted() {
    this.show();
  },
  updated() {
    this.show();
  },
  methods: {
    async show() {
      const html = this.html;
      if (html === this.shown) return;
      this.shown = html;
      this.$el.setHTML(html); // NiceGUI's: DOMPurify
      const formulas = [...this.$el.querySelectorAll("code.math")].slice(0, MOST_FORMULAS);
      if (!formulas.length || !this.katex) return;
      await this.$nextTick(); // the prefix of the site is known once the page is mounted
      const katex = (await import(window.path_prefix + this.katex)).default;
      if (html !== this.shown) return;
      for (const formula of formulas) {
        const drawn = document.createElement("span");
        drawn.className = formula.dataset.display ? "formula display" : "formula";
        try {
          katex.render(formula.textContent, drawn, {
            displayMode: !!formula.dataset.display,
            output: "mathml",
            trust: false,
            strict: "ignore",
            maxExpand: 200,
            maxSize: 8,
          });
        } catch (error) {
          continue; // not LaTeX: its source stays
        }
        formula.replaceWith(drawn);
      }
    },
  },
};
