/**
 * What the reference page adds to its viewer, which knows one scheme of colours, sets tables as wide as their longest
 * word, and gives the keyboard no way to scroll.
 */

/** Colours of WCAG 2.2 AA on their backgrounds, by names that the viewer sets on itself and the page may set over it. */
const LIGHT = {
  fg: '#333333',
  fg2: '#444444',
  fg3: '#555555',
  'light-fg': '#5c636a',
  'placeholder-color': '#5c636a',
  'inline-code-fg': '#8a2020',
  red: '#b3202e',
  orange: '#8f4400',
  yellow: '#715300',
  green: '#176b2c',
  blue: '#0a5a94',
  purple: '#5b32a3',
  pink: '#a81c63',
};

const DARK = {
  bg: '#14191f',
  bg2: '#1b222a',
  bg3: '#232c36',
  'light-bg': '#3a4653',
  fg: '#dde3e9',
  fg2: '#cdd5dc',
  fg3: '#bcc6cf',
  'light-fg': '#a5b1bc',
  'selection-bg': '#3f6f8f',
  'selection-fg': '#ffffff',
  'border-color': '#3c4854',
  'light-border-color': '#2d3742',
  'input-bg': '#1b222a',
  'placeholder-color': '#a5b1bc',
  'hover-color': '#232c36',
  'inline-code-fg': '#f2b8a0',
  'code-fg': '#cdd5dc',
  'code-property-color': '#f29bc1',
  'code-keyword-color': '#7cc4f0',
  'code-operator-color': '#e0b98a',
  'primary-color': '#6cc0e0',
  'primary-btn-text-color': '#000000',
  'nav-bg-color': '#0e1216',
  'nav-hover-bg-color': '#1b222a',
  red: '#ff8f97',
  orange: '#f5a75f',
  yellow: '#e9c15a',
  green: '#74cf8b',
  blue: '#7cc4f0',
  purple: '#c3a6f7',
  pink: '#f59ac4',
  gray: '#a5b1bc',
  'light-red': '#3a1f24',
  'light-orange': '#382818',
  'light-yellow': '#332b14',
  'light-green': '#17301f',
  'light-blue': '#162c3b',
  'light-purple': '#2a2240',
  'light-gray': '#262d34',
};

const colours = (names: Readonly<Record<string, string>>): string =>
  Object.entries(names)
    .map(([name, colour]) => `--${name}: ${colour};`)
    .join(' ');

/** Of the page, around the viewer. */
export const PAGE_STYLE = `:root { color-scheme: light dark; }
html, body { margin: 0; height: 100%; background: #ffffff; }
h1 { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
openapi-explorer { font-family: system-ui, sans-serif; ${colours(LIGHT)} }
@media (prefers-color-scheme: dark) {
  html, body { background: ${DARK.bg}; }
  openapi-explorer { ${colours(DARK)} }
}
`;

/** Inside the viewer, which a page's own style sheet does not reach. */
const INNER_STYLE = `.main-content { --secondary-color: #8f4400; overflow-y: auto; }
.main-content:focus-visible { outline: 2px solid var(--primary-color); outline-offset: -2px; }
.m-markdown code, .m-markdown-small code, .m-markdown td, .m-markdown-small td, h2, h3 { overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { .main-content { --secondary-color: #f5a75f; } }
@media (max-width: 767.98px) {
  .m-markdown table, .m-markdown tbody, .m-markdown tr, .m-markdown td { display: block; }
  .m-markdown thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .m-markdown tr { border-top: 1px solid var(--border-color); padding: 4px 0; }
  .m-markdown td { border: 0; padding: 4px 12px; }
}
`;

/** The viewer draws its parts when it likes, so they are looked for after each drawing. */
export const PAGE_SCRIPT = `const viewer = document.querySelector('openapi-explorer');
const style = new CSSStyleSheet();
style.replaceSync(${JSON.stringify(INNER_STYLE)});
const finish = () => {
  const main = viewer.shadowRoot.querySelector('main');
  if (!main || main.tabIndex === 0) return;
  main.tabIndex = 0;
  main.setAttribute('aria-label', document.title);
};
customElements.whenDefined('openapi-explorer').then(() => viewer.updateComplete).then(() => {
  viewer.shadowRoot.adoptedStyleSheets.push(style);
  new MutationObserver(finish).observe(viewer.shadowRoot, { childList: true, subtree: true });
  finish();
});
`;
