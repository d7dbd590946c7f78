import { html } from '../html.js'
import { useLoad } from '../load.js'
import { Changes } from '../parts/changes.js'
import { plain } from '../parts/columns.js'
import { Detail } from '../parts/detail.js'
import { Fold } from '../parts/fold.js'
import { Loads } from '../parts/notice.js'
import { OperationForm } from '../parts/operation-form.js'
import { go } from '../router.js'
import { count, when } from '../text.js'

/**
 * One pack: what an install would change, and the form that installs it.
 * @param {{ slug: string }} props
 */
export function Pack({ slug }) {
  const path = `/api/exchange/packs/${encodeURIComponent(slug)}`
  const preview = useLoad(`${path}/preview`)
  return html`
    <${Detail}
      path=${path}
      up=${['/packs', 'Packs']}
      title=${(/** @type {any} */ pack) => pack.name}
      facts=${(/** @type {any} */ pack) => [
        ['Type', pack.pack_type],
        ['Version', pack.version],
        ['Versions', plain(pack.versions)],
        ['Author', plain(pack.author)],
        ['Tags', plain(pack.tags)],
        ['Installs', count(pack.installs)],
        ['Published', when(pack.published_at)],
        ['SHA-256', html`<code>${pack.content_sha256}</code>`],
      ]}
      remove="The pack goes with its versions."
      json
    >
      ${(/** @type {any} */ pack) => html`
        ${pack.readme && html`<p class="answer">${pack.readme}</p>`}
        <section>
          <h2>What an install changes</h2>
          <${Loads} of=${preview}>${(/** @type {any} */ data) => html`<${Previewed} of=${data} />`}<//>
        </section>
        <${Fold} title="Install">
          ${() => html`
            <${OperationForm}
              operation="POST /api/exchange/packs/{slug}/install"
              params=${{ slug }}
              fields=${['version', 'on_conflict', 'variables', 'dry_run']}
              submit="Install"
              id="install"
              done=${() => go('/packs/installed')}
            />
          `}
        <//>
      `}
    <//>
  `
}

/** @param {{ of: any }} props */
const Previewed = ({ of }) => html`
  ${[...of.unmet, ...of.warnings].map((/** @type {string} */ text) => html`<p class="warning">${text}</p>`)}
  ${of.missing_secrets.length > 0 && html`<p class="warning">These secrets are missing: ${plain(of.missing_secrets)}.</p>`}
  ${of.missing_variables.length > 0 && html`<p class="warning">These variables need values: ${plain(of.missing_variables)}.</p>`}
  <${Changes} of=${of.changes.map((/** @type {any} */ { section, key, action, before, after }) => ({ title: `${section}/${key}: ${action}`, before, after }))} />
`
