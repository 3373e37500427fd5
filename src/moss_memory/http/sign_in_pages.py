"""The pages for a browser that is not signed in, with their style, icon and script."""

from __future__ import annotations

from .sign_in import SIGN_IN

STYLE = """\
:root{color-scheme:light dark}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:light-dark(#f6f6f2,#121511);
color:light-dark(#1c211b,#e7ebe3);font:.9375rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{box-sizing:border-box;width:min(25rem,100vw - 2rem);margin-bottom:12vh;padding:2rem;border-radius:10px;
background:light-dark(#fff,#1a1e18);border:1px solid light-dark(#e1e3da,#2c3229)}
svg{display:block;width:32px;height:32px;margin-bottom:1.25rem}
h1{font-size:1.375rem;font-weight:650;letter-spacing:-.018em;line-height:1.3;margin:0 0 .375rem}
p{margin:0;color:light-dark(#586055,#a2ab9c)}
code{font:.86em ui-monospace,"SF Mono","JetBrains Mono",Menlo,Consolas,monospace}
button{font:inherit;font-weight:520;width:100%;height:2.5rem;margin-top:1.5rem;border:0;border-radius:5px;cursor:pointer;
background:light-dark(#3f6a3a,#a4cf8d);color:light-dark(#fff,#14200f)}
button:focus-visible{outline:2px solid light-dark(#3f6a3a,#a4cf8d);outline-offset:2px}
"""

SCRIPT = """\
// The path of the pages is in the storage of this origin, which no other port can read: a signed-in browser goes on.
"use strict";
(() => {
  const { pages, from } = document.documentElement.dataset;
  const base = localStorage.getItem(pages);
  if (/^[/][0-9a-f]{32}$/.test(base) && !location.pathname.startsWith(base)) {
    const requested = location.pathname.replace(/^[/][0-9a-f]{32}(?=[/]|$)/, "") + location.search + location.hash;
    location.replace(base + (from || requested));
  }
})();
"""
"""Opens the requested page in a browser that has signed in before."""

LOGO = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" aria-hidden="true">'
    '<rect width="24" height="24" rx="6" fill="#3f6a3a"/><path fill="none" stroke="#fff" stroke-width="1.7" '
    'stroke-linecap="round" d="M12 19V6M12 14.5c-3.2 0-4.7-1.7-4.7-4.8M12 14.5c3.2 0 4.7-1.7 4.7-4.8"/></svg>'
)

SIGN_IN_HELP = (
    "<p>Open the link that <code>moss serve</code> prints in its terminal; pressing Enter there prints a new one. "
    "Each works once.</p>"
)
SIGN_IN_HELP_FOR_PAGE = SIGN_IN_HELP.replace("Each works once.", "Each works once, and then this page opens.")
"""The same for a page that was requested."""
LINK_FORM = (
    "<p>The hand-overs, decisions and findings of your agents. This link works once.</p>"
    '<form method="post"><button autofocus>Open the pages</button></form>'
)


def render_page(title: str, content: str, *, pages: str = "", redirect_to: str = "") -> str:
    """Return a page for a browser that is not signed in.

    If `pages`, the key of the pages' path in the browser's storage, is given, a script redirects a browser that has
    signed in before: to `redirect_to`, or to the same path.
    """
    script = f'<script src="{SIGN_IN}/open.js" defer></script>' if pages else ""
    attributes = f' data-pages="{pages}"' + (f' data-from="{redirect_to}"' if redirect_to else "") if pages else ""
    return (
        f'<!doctype html><html lang="en"{attributes}><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="{SIGN_IN}/icon.svg"><link rel="stylesheet" href="{SIGN_IN}/style.css">{script}</head>'
        f"<body><main>{LOGO}<h1>{title}</h1>{content}</main></body></html>"
    )
