/**
 * The style of the pages that the hub makes itself. Its hash stands in their Content-Security-Policy, so it is sent
 * byte for byte.
 */
export const pageStyle = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #566173; --paper: #fbfbfa; --card: #f0f1ef; --line: #d5d9de; --link: #1556b8; --good: #17693a; --warn: #8a5200; --bad: #a81e1e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --soft: #a3adbb; --paper: #14181e; --card: #1d232c; --line: #343d4a; --link: #86b4ff; --good: #6fd394; --warn: #f0b45c; --bad: #ff8f8f; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 46rem; padding: 1.5rem 1rem 3rem; background: var(--paper); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.9rem; line-height: 1.2; }
h1 + p { margin: .25rem 0 0; color: var(--soft); }
h2 { margin: 2.2rem 0 .5rem; font-size: 1.2rem; }
p { margin: .5rem 0; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, pre:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
code, pre { font: .875rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: .5rem 0; padding: .75rem; overflow-x: auto; overflow-wrap: normal; background: var(--card); border: 1px solid var(--line); border-radius: .4rem; user-select: all; }
var { color: var(--soft); }
dl { margin: 0; }
dt { margin-top: .6rem; color: var(--soft); }
dd { margin: 0; }
details { border-top: 1px solid var(--line); }
details:last-of-type { border-bottom: 1px solid var(--line); }
summary { min-height: 2.75rem; padding: .6rem .2rem; cursor: pointer; font-weight: 600; }
.state { font-weight: 600; }
.state::before { content: "● "; }
.healthy { color: var(--good); }
.degraded { color: var(--warn); }
.unhealthy { color: var(--bad); }
footer { margin-top: 3rem; color: var(--soft); font-size: .875rem; }
`;
