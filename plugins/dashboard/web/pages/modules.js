import { useState } from 'preact/hooks'
import { ask } from '../api.js'
import { html } from '../html.js'
import { useAction, useLoad } from '../load.js'
import { Badge, Loads, Problem } from '../parts/notice.js'
import { Link } from '../router.js'
import { count } from '../text.js'

/** All modules by the stage of the chain in which they stand, in the order in which a request meets them. */
export function Modules() {
  const [wanted, setWanted] = useState('')
  const list = useLoad('/api/proxy/modules', { query: { limit: 500 }, everyMs: 15_000 })
  return html`
    <div class="head">
      <h1>Modules</h1>
      <label class="search">Find <input type="search" value=${wanted} onInput=${(/** @type {any} */ event) => setWanted(event.target.value)} /></label>
    </div>
    <${Loads} of=${list}>
      ${(/** @type {any} */ data) => html`
        <p class="total">${data.enabled} of ${data.total} are on. A change holds for the next call.</p>
        ${stagesOf(data.modules, wanted).map(
          ([stage, modules]) => html`
            <section key=${stage}>
              <h2>${stage}</h2>
              <ul class="modules">
                ${modules.map((module) => html`<${Row} key=${module.name} module=${module} reload=${list.reload} />`)}
              </ul>
            </section>
          `,
        )}
      `}
    <//>
  `
}

/**
 * @param {readonly any[]} modules
 * @param {string} wanted
 * @returns {[string, any[]][]}
 */
function stagesOf(modules, wanted) {
  const text = wanted.toLowerCase()
  const fitting = modules.filter(({ name, title, description }) =>
    `${name} ${title} ${description}`.toLowerCase().includes(text),
  )
  fitting.sort((a, b) => a.priority - b.priority)
  return Object.entries(Object.groupBy(fitting, ({ category }) => category)).map(([stage, all]) => [
    stage,
    all ?? [],
  ])
}

/** @param {{ module: any, reload: () => void }} props */
function Row({
  module: { name, title, description, enabled, mode, state, problem, warnings, stats },
  reload,
}) {
  const { busy, error, run } = useAction()
  const toggle = () =>
    run(async () => {
      await ask('PUT', `/api/proxy/modules/${name}`, { body: { enabled: !enabled } })
      reload()
    })
  return html`
    <li>
      <button type="button" role="switch" class="switch" aria-checked=${enabled} aria-label=${`${title} is on`} disabled=${busy} onClick=${toggle}>
        <span></span>
      </button>
      <div>
        <p>
          <${Link} to=${`/modules/${name}`}>${title}<//> <code>${name}</code>
          ${mode === 'shadow' && html` <${Badge} tone="calm">shadow<//>`}
          ${!['active', 'disabled'].includes(state) && html` <${Badge} tone="bad">${state}<//>`}
        </p>
        <p class="hint">${description}</p>
        ${problem && html`<p class="flaw">${problem}</p>`}
        ${enabled && warnings.map((/** @type {string} */ text) => html`<p class="warning">${text}</p>`)}
        <${Problem} error=${error} />
      </div>
      <span class="value">${enabled && stats.calls > 0 ? `${count(stats.calls)} runs, p99 ${count(Math.round(stats.p99_us))} µs` : ''}</span>
    </li>
  `
}
