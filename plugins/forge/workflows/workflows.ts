import { type Context, notFound, Sealing } from '#kernel'
import { type NewVersion, type Schemas, SealedJson, VersionedRows } from '#kit'
import { without } from '../fields.ts'
import type { Settings } from '../settings.ts'
import type { Tools } from '../tools/tools.ts'
import { checkedDefinition } from './check.ts'
import { type Definition, definition, type Nested, type Whole } from './definition.ts'
import { changedRow, type WorkflowChange } from './input.ts'
import { wrong } from './references.ts'
import { type WorkflowRow, workflowRow } from './rows.ts'

/** Bounds: workflows of one user, and of all admins together; versions of a workflow. */
const most = { things: 100, versions: 500 }

/** Workflows with what their versions say. */
export class Workflows {
  readonly shelf: VersionedRows<WorkflowRow>
  readonly schemas: Schemas
  readonly #json: SealedJson
  readonly #settings: Settings
  readonly #tools: Tools

  constructor(context: Context<Settings>, tools: Tools) {
    this.#tools = tools
    this.schemas = tools.schemas
    const rows = context.store.collection('workflows', { schema: workflowRow })
    this.shelf = new VersionedRows(context.store, rows, { thing: 'workflow', most })
    this.#json = new SealedJson(context, () => context.use(Sealing))
    this.#settings = context.settings
  }

  /** What a version says. Throws a not found for one that is not there or cannot be opened any more. */
  async read({ id, slug }: Pick<WorkflowRow, 'id' | 'slug'>, version: number): Promise<Whole> {
    const stored = await this.shelf.version(id, version)
    const opened = stored && (await this.#json.read(stored.body))
    if (opened) return opened.value as Whole
    throw notFound(`Version ${version} of the workflow ${slug} is not there, or cannot be read any more.`, {
      param: 'version',
    })
  }

  /** A version that is ready to be stored. Throws a bad request for what cannot be saved. */
  async draft(
    owner: Pick<WorkflowRow, 'id' | 'slug' | 'user_id' | 'tenant'>,
    definition: Definition,
    author: string,
  ): Promise<NewVersion> {
    const whole = await checkedDefinition(definition, owner, this.#settings, {
      schemas: this.schemas,
      find: (slug, at) => this.#nested(slug, at, owner.user_id),
      toolOf: (slug, at) => this.#toolOf(slug, at, owner.user_id),
    })
    const created_at = new Date().toISOString()
    return { author, created_at, body: await this.#json.write(owner, whole) }
  }

  /** Changes a workflow, and makes a version if the change is about what it does. */
  async change(row: WorkflowRow, change: WorkflowChange, author: string): Promise<WorkflowRow> {
    const { input_schema, steps, output, limits } = change
    const said = without(undefined, { input_schema, steps, output, limits })
    if (Object.keys(said).length === 0) return this.shelf.change(row, (now) => changedRow(now, change))
    const { nested: _, tools: __, ...before } = await this.read(row, row.current_version)
    const draft = await this.draft(row, definition.parse(without(null, { ...before, ...said })), author)
    return this.shelf.publish(row, row.current_version, draft, (now) => changedRow(now, change))
  }

  #toolOf(slug: string, at: string, owner: string | undefined): string {
    const row = this.#tools.known.named(slug, owner)
    if (row) return row.id
    throw wrong(at, `there is no tool ${slug}`)
  }

  async #nested(slug: string, at: string, owner: string | undefined): Promise<Nested> {
    const row = this.shelf.known.named(slug, owner)
    if (!row) throw wrong(at, `there is no workflow ${slug}`)
    const { id, current_version: version } = row
    return { id, version, definition: await this.read(row, version) }
  }
}
