/** The style of pages of shares, which the policy of the page names by its hash. */
export const style = `
:root { color-scheme: light dark; --line: #8886; --added: #2a82; --removed: #c332; --won: #2a84; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 0; } p, dt, footer { color: GrayText; }
h1, h2, dd, pre { unicode-bidi: isolate; overflow-wrap: anywhere; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: 1rem; }
section { border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; margin-bottom: 1rem; min-width: 0; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .2rem 1rem; } dd { margin: 0; }
.won { background: var(--won); border-radius: .2rem; padding: 0 .3rem; justify-self: start; }
pre { white-space: pre-wrap; font: inherit; margin: 0; }
ins { background: var(--added); } del { background: var(--removed); }
`
