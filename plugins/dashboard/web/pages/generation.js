import { ask } from '../api.js'
import { html } from '../html.js'
import { Changes } from '../parts/changes.js'
import { plain } from '../parts/columns.js'
import { Detail } from '../parts/detail.js'
import { go } from '../router.js'
import { when } from '../text.js'

/**
 * One generation: what it changed, and the way back to it.
 * @param {{ generation: string }} props
 */
export function Generation({ generation }) {
  const rollback = async () => {
    await ask('POST', '/api/config/rollback', { body: { generation: Number(generation) } })
    go('/configuration')
  }
  return html`
    <${Detail}
      path=${`/api/config/history/${encodeURIComponent(generation)}`}
      up=${['/configuration', 'Configuration']}
      title=${() => `Generation ${generation}`}
      actions=${() => [
        {
          title: 'Go back to this',
          sure: 'All that was set after it is undone, as one change.',
          run: rollback,
        },
      ]}
      facts=${(/** @type {any} */ one) => [
        ['Time', when(one.at)],
        ['Kind', one.kind],
        ['Who', `${one.actor.type} ${one.actor.id}`],
        ['Request', plain(one.request_id)],
        ['Back to', plain(one.to)],
      ]}
    >
      ${(/** @type {any} */ one) => html`
        <section>
          <h2>Changes</h2>
          <${Changes} of=${one.changes.map((/** @type {any} */ { section, key, before, after }) => ({ title: `${section}/${key}`, before, after }))} />
        </section>
      `}
    <//>
  `
}
