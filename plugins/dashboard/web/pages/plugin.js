import { ask } from '../api.js'
import { html } from '../html.js'
import { useAction } from '../load.js'
import { plain, State } from '../parts/columns.js'
import { Detail } from '../parts/detail.js'
import { Fold } from '../parts/fold.js'
import { SchemaForm } from '../parts/schema-form.js'
import { Link } from '../router.js'
import { when } from '../text.js'

/**
 * One plugin: its state, its settings, and what it may do.
 * @param {{ name: string }} props
 */
export function Plugin({ name }) {
  const path = `/api/plugins/${encodeURIComponent(name)}`
  const setting = useAction()
  const set = (/** @type {object} */ config, /** @type {() => void} */ reload) =>
    setting.run(async () => {
      await ask('PUT', path, { body: { config } })
      reload()
    })
  return html`
    <${Detail}
      path=${path}
      up=${['/plugins', 'Plugins']}
      title=${(/** @type {any} */ plugin) => plugin.title}
      actions=${(/** @type {any} */ plugin) => [
        plugin.enabled
          ? {
              title: 'Switch off',
              sure: 'What it offers ends with the next request.',
              run: () => ask('PUT', path, { body: { enabled: false } }),
            }
          : { title: 'Switch on', main: true, run: () => ask('PUT', path, { body: { enabled: true } }) },
        plugin.source !== 'builtin' && {
          title: 'Load its code again',
          run: () => ask('POST', `${path}/reload`),
        },
      ]}
      facts=${(/** @type {any} */ plugin) => [
        ['State', html`<${State} of=${plugin.state} />`],
        ['Name', html`<code>${plugin.name}</code>`],
        ['Kind', plugin.kind === 'module' ? html`<${Link} to=${`/modules/${name}`}>module<//>` : plugin.kind],
        ['From', plugin.source],
        ['Version', plugin.version],
        ['Contract', plain(plugin.api)],
        ['Needs', plain(plugin.requires)],
        ['May', plain(plugin.permissions)],
        ['Changed', when(plugin.updated_at)],
      ]}
    >
      ${(/** @type {any} */ plugin, /** @type {() => void} */ reload) => html`
        ${plugin.problem && html`<div class="problem"><p>${plugin.problem}</p></div>`}
        <section>
          <h2>Settings</h2>
          <${SchemaForm}
            schema=${plugin.config_schema}
            values=${plugin.config}
            busy=${setting.busy}
            error=${setting.error}
            save=${(/** @type {object} */ config) => set(config, reload)}
          />
        </section>
        ${
          plugin.routes.length > 0 &&
          html`<${Fold} title="Routes">
            ${() => html`<ul>${plugin.routes.map((/** @type {string} */ route) => html`<li key=${route}><code>${route}</code></li>`)}</ul>`}
          <//>`
        }
      `}
    <//>
  `
}
