(() => {
  // "/" goes to the search, j and k to the next and the last one of a list, Escape out of a field, Cmd-Enter or Ctrl-Enter begins.
  const WRITES = "textarea, select, input:not([type=checkbox])", LISTED = ".runs .whole, .trace [data-node]";
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.defaultPrevented) return;
    const field = event.target.closest?.(WRITES);
    if ((event.metaKey || event.ctrlKey) && event.key === "Enter") {
      const go = document.querySelector("[data-key=go]:not([disabled])");
      if (go) { event.preventDefault(); go.click(); }
      return;
    }
    if (event.key === "Escape" && field) { field.blur(); return; }
    if (field || event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.key === "/") {
      const search = document.querySelector("[data-key='/']") ?? document.querySelector("main textarea");
      if (search) { event.preventDefault(); search.focus(); }
    } else if (event.key === "j" || event.key === "k") {
      const all = [...document.querySelectorAll(LISTED)].filter((each) => each.getClientRects().length);
      const at = all.indexOf(document.activeElement), next = all[event.key === "j" ? at + 1 : Math.max(at - 1, 0)];
      if (next) { event.preventDefault(); next.focus(); next.scrollIntoView({block: "nearest"}); }
    }
  });
})();
