import { fileURLToPath } from 'node:url'
import type { Assets, HtmlPage } from '#kit'

/** What the browser imports by name, and the file that each is. */
const modules = {
  htm: 'htm',
  preact: 'preact',
  'preact/hooks': 'preact/hooks',
  uplot: 'uplot/dist/uPlot.esm.js',
} as const

const uplotStyle = 'uplot/dist/uPlot.min.css'

const nameOf = (library: string): string =>
  `libraries/${library.replaceAll('/', '-').replace(/(\.js)?$/, '.js')}`

/** The files of installed packages that the pages need, by the names under which they are served. */
export function libraries(): ReadonlyMap<string, string> {
  const fileOf = (specifier: string): string => fileURLToPath(import.meta.resolve(specifier))
  const scripts = Object.entries(modules).map(
    ([name, specifier]) => [nameOf(name), fileOf(specifier)] as const,
  )
  return new Map([...scripts, ['libraries/uplot.css', fileOf(uplotStyle)]])
}

/** The one document of the dashboard: its scripts find by the path which page to show. */
export function pageOf(files: Pick<Assets, 'url'>): HtmlPage {
  const imports = Object.fromEntries(Object.keys(modules).map((name) => [name, files.url(nameOf(name))]))
  const map = JSON.stringify({ imports })
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Switchyard</title>
<link rel="icon" href="${files.url('icon.svg')}">
<link rel="stylesheet" href="${files.url('libraries/uplot.css')}">
<link rel="stylesheet" href="${files.url('style.css')}">
<script type="importmap">${map}</script>
<script type="module" src="${files.url('main.js')}"></script>
</head>
<body>
<div id="app"><noscript>The dashboard needs JavaScript. All it shows is also in the API.</noscript></div>
</body>
</html>
`
  return { html, scripts: true, inline: [map], noindex: true }
}
