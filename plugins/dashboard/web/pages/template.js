import { html } from '../html.js'
import { useList, useLoad } from '../load.js'
import { Changes } from '../parts/changes.js'
import { column, number, plain, State, time } from '../parts/columns.js'
import { Detail } from '../parts/detail.js'
import { Fold } from '../parts/fold.js'
import { Listing } from '../parts/listing.js'
import { Loads } from '../parts/notice.js'
import { OperationForm } from '../parts/operation-form.js'
import { Link, placeOf } from '../router.js'
import { when } from '../text.js'

/**
 * One template: its text, its versions with what each changed, and a form that publishes another.
 * @param {{ slug: string, query: Record<string, string> }} props `user_id` in the query is whose it is, for an admin
 */
export function Template({ slug, query: { version, user_id, ...query } }) {
  const path = `/api/studio/templates/${encodeURIComponent(slug)}`
  const owner = user_id === undefined ? {} : { user_id }
  const versions = useList(`${path}/versions`, { ...query, ...owner })
  const columns = [
    number(
      'Version',
      'version',
      (n) => html`<${Link} to=${`/templates/${slug}`} query=${{ ...owner, version: n }}>${n}<//>`,
    ),
    column('Note', 'change_note'),
    column('Labels', 'labels'),
    column('By', 'author'),
    time('Published', 'created_at'),
  ]
  return html`
    <${Detail}
      path=${placeOf(path, user_id)}
      up=${['/templates', 'Templates']}
      title=${(/** @type {any} */ template) => template.name ?? template.slug}
      facts=${(/** @type {any} */ template) => [
        ['Status', html`<${State} of=${template.status} />`],
        ['Version', template.current_version],
        ['Model', plain(template.model)],
        ['Tags', plain(template.tags)],
        ['Labels', plain(Object.entries(template.labels).map(([label, n]) => `${label}: ${n}`))],
        ['Seen by', template.visibility],
        ['Changed', when(template.updated_at)],
      ]}
      change=${{ operation: 'PUT /api/studio/templates/{slug}', params: { slug }, query: owner }}
      remove="The template goes with all its versions."
    >
      ${(/** @type {any} */ template, /** @type {() => void} */ reload) => html`
        <section>
          <h2>Content</h2>
          <pre tabindex="0">${typeof template.content === 'string' ? template.content : JSON.stringify(template.content, null, 2)}</pre>
        </section>
        <${Fold} title="Publish a version">
          ${() => html`
            <${OperationForm}
              operation="POST /api/studio/templates/{slug}/versions"
              params=${{ slug }}
              query=${owner}
              fields=${['content', 'change_note', 'labels']}
              values=${{ content: template.content }}
              given=${{ parent_version: template.current_version }}
              id="version"
              submit="Publish"
              done=${() => {
                reload()
                versions.reload()
              }}
            />
          `}
        <//>
        ${version && html`<${Version} path=${path} owner=${user_id} version=${Number(version)} />`}
        <section>
          <h2>Versions</h2>
          <${Listing} of=${versions} items="versions" label="Versions" columns=${columns} empty="There are no versions." at=${`/templates/${slug}`} query=${{ ...query, ...owner }} keyOf=${(/** @type {any} */ row) => String(row.version)} />
        </section>
      `}
    <//>
  `
}

/** @param {{ path: string, owner: string | undefined, version: number }} props */
function Version({ path, owner, version }) {
  const now = useLoad(placeOf(`${path}/versions/${version}`, owner))
  const before = useLoad(version > 1 ? placeOf(`${path}/versions/${version - 1}`, owner) : undefined)
  return html`
    <section>
      <h2>Version ${version}</h2>
      <${Loads} of=${now}>
        ${(/** @type {any} */ data) => html`
          ${data.lint.map((/** @type {any} */ one) => html`<p class="warning">${one.message}</p>`)}
          <${Changes} of=${[{ title: 'content', before: before.data?.content, after: data.content }]} />
        `}
      <//>
    </section>
  `
}
