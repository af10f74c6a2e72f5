"""A page with a form of options and an answer with code: run by the tests as a program. Arguments: port, folder."""

import sys
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from nicegui import ui

import podium.page
from podium.errors import ConfigError
from podium.page.parts import Area, Choice, button, text
from podium.page.request_options import RequestOptionsForm
from podium.page.rich_text import RichText
from podium.types import Card
from tests.page.hostile import HIT

CARDS = tuple(Card(name=name) for name in ("atlas", "brook", "cedar", "delta", "ember", f"<img src=x onerror={HIT}>", "x" * 90))
CODE = '''Here it is:

```python
@cache
def fib(n: int) -> int:
    """The n-th number."""
    return n if n < 2 else fib(n - 1) + fib(n - 2)  # slow without the cache

print(f"{fib(30):,}", 0x1F, None, len("two"))
```

```js
class Point extends Base { constructor(x) { super(); this.x = x ?? 1.5; } } // a point
```

```diff
@@ -1,2 +1,2 @@
-old = "<b>"
+new = "<i>"
 same
```

```nobody-knows
plain <text>
```
'''


def page() -> None:
    """Everything on one page, and buttons that tell what the server knows."""
    form = RequestOptionsForm(CARDS)

    def read() -> None:
        try:
            told.text = repr(form.read())
        except ConfigError as error:
            told.text = f"ConfigError: {error}"

    button("Read", read)
    told = text("", "p", id="told")
    RichText().show(CODE)
    choice = Choice("Model", {"": [("a", "a"), ("b", "b")]}, "a")
    heard: list[str] = []

    def send() -> None:
        heard.append(f"{choice.value} {area.value}")
        order.text = "; ".join(heard)

    area = Area("Question", send=send)
    order = text("", "p", id="order")


if __name__ == "__main__":
    ui.add_css(Path(podium.page.__file__).with_name("page.css"), shared=True)
    app = FastAPI()
    ui.page("/")(page)
    ui.run_with(app, show_welcome_message=False, tailwind=False)
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
