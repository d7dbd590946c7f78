import { html } from '../html.js'
import { column, plain, State } from '../parts/columns.js'
import { Detail } from '../parts/detail.js'
import { Fold } from '../parts/fold.js'
import { OperationForm } from '../parts/operation-form.js'
import { Table } from '../parts/table.js'
import { go, Link, placeOf } from '../router.js'
import { when } from '../text.js'

const columns = [
  column('Step', 'id'),
  column('Type', 'type'),
  column('Model', 'model'),
  column('After', 'depends_on'),
  column('When', 'when'),
]

/**
 * One workflow: its steps, and the form that runs it.
 * @param {{ slug: string, query: Record<string, string> }} props `user_id` in the query is whose it is, for an admin
 */
export const Workflow = ({ slug, query: { user_id } }) => html`
  <${Detail}
    path=${placeOf(`/api/forge/workflows/${encodeURIComponent(slug)}`, user_id)}
    up=${['/workflows', 'Workflows']}
    title=${(/** @type {any} */ workflow) => workflow.name}
    facts=${(/** @type {any} */ workflow) => [
      ['On', html`<${State} of=${workflow.enabled} />`],
      ['Version', workflow.version],
      ['Seen by', workflow.visibility],
      ['Belongs to', plain(workflow.user_id)],
      ['Runs', html`<${Link} to="/workflows/runs" query=${{ workflow: slug }}>show<//>`],
      ['Changed', when(workflow.updated_at)],
    ]}
    change=${{ operation: 'PUT /api/forge/workflows/{slug}', params: { slug }, query: { user_id }, fields: ['name', 'description', 'steps', 'enabled'] }}
    remove="Runs that have begun end."
    json
  >
    ${(/** @type {any} */ workflow) => html`
      <section>
        <h2>Steps</h2>
        <${Table} label="Steps" columns=${columns} rows=${workflow.steps} keyOf=${(/** @type {any} */ row) => row.id} />
      </section>
      <${Fold} title="Run">
        ${() => html`
          <${OperationForm}
            operation="POST /api/forge/workflows/{slug}/run"
            params=${{ slug }}
            query=${{ user_id }}
            fields=${['input']}
            given=${{ wait_ms: 0 }}
            id="run"
            submit="Run"
            done=${(/** @type {any} */ { id }) => go(`/workflows/runs/${id}`)}
          />
        `}
      <//>
    `}
  <//>
`
