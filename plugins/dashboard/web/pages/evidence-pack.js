import { html } from '../html.js'
import { column, number, plain, State } from '../parts/columns.js'
import { Detail } from '../parts/detail.js'
import { Table } from '../parts/table.js'
import { count, when } from '../text.js'

const columns = [column('Section', 'name'), number('Entries', 'count'), column('SHA-256', 'sha256')]

/**
 * One pack of evidence, with its file once that is ready.
 * @param {{ id: string }} props
 */
export const EvidencePack = ({ id }) => html`
  <${Detail}
    path=${`/api/trust/evidence/${encodeURIComponent(id)}`}
    everyMs=${5000}
    up=${['/evidence', 'Evidence']}
    title=${(/** @type {any} */ pack) => pack.name}
    facts=${(/** @type {any} */ pack) => [
      ['Status', html`<${State} of=${pack.status} />`],
      ['From', when(pack.date_from)],
      ['To', when(pack.date_to)],
      ['Framework', plain(pack.framework)],
      ['Events', count(pack.event_count)],
      ['Bytes', count(pack.size_bytes)],
      ['Made by', pack.created_by],
      ['Kept until', when(pack.expires_at)],
      ['SHA-256 of its list', html`<code>${plain(pack.manifest_sha256)}</code>`],
    ]}
    remove="Its file is deleted."
  >
    ${(/** @type {any} */ pack) => html`
      ${pack.error && html`<div class="problem"><p>${pack.error}</p></div>`}
      ${pack.download_url && html`<p><a class="button" href=${`/api/trust/evidence/${encodeURIComponent(id)}/download`} download>Download</a></p>`}
      ${
        pack.sections.length > 0 &&
        html`<section>
          <h2>Content</h2>
          <${Table} label="Content" columns=${columns} rows=${pack.sections} keyOf=${(/** @type {any} */ row) => row.name} />
        </section>`
      }
    `}
  <//>
`
