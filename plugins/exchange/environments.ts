import { badRequest, type Collection, type Context, conflict, newId, notFound } from '#kernel'
import { type EnvironmentRow, environmentRow, type SyncRow, syncRow } from './environment.ts'

const mostEnvironments = 100
const mostSyncs = 1000

/** The environments, and what was synced with them. */
export class Environments {
  readonly rows: Collection<EnvironmentRow>
  readonly syncs: Collection<SyncRow>

  constructor({ store }: Pick<Context<unknown>, 'store'>) {
    this.rows = store.collection('environments', { schema: environmentRow })
    this.syncs = store.collection('syncs', { schema: syncRow })
  }

  /** Throws a not found. */
  async find(name: string): Promise<EnvironmentRow> {
    const found = await this.rows.get(name)
    if (found) return found
    throw notFound(`There is no environment ${name}.`, { param: 'name' })
  }

  /** Throws a conflict where the name is taken, and a bad request for one that could not be synced. */
  async create(
    given: Pick<EnvironmentRow, 'name' | 'kind' | 'description' | 'url' | 'auth_ref' | 'config'>,
  ): Promise<EnvironmentRow> {
    demandSound(given)
    if ((await this.rows.count()) >= mostEnvironments)
      throw badRequest(`There are ${mostEnvironments} environments; delete some first.`, { param: 'name' })
    const now = new Date().toISOString()
    const row: EnvironmentRow = {
      ...given,
      id: newId('env_'),
      current_generation: null,
      known_hashes: [],
      last_synced_at: null,
      created_at: now,
      updated_at: now,
    }
    const before = await this.rows.update(given.name, (there) => there ?? row)
    if (before?.id === row.id) return row
    throw conflict(`There is an environment ${given.name} already.`, { param: 'name' })
  }

  async change(
    name: string,
    change: (row: EnvironmentRow) => Partial<EnvironmentRow>,
  ): Promise<EnvironmentRow> {
    const updated_at = new Date().toISOString()
    const row = await this.rows.update(name, (there) => {
      if (!there) return undefined
      const next = { ...there, ...change(there), updated_at }
      demandSound(next)
      return next
    })
    if (row) return row
    throw notFound(`There is no environment ${name}.`, { param: 'name' })
  }

  /** Keeps a sync, and lets the oldest go beyond a thousand. Ids sort by time. */
  async log(given: Omit<SyncRow, 'sync_id' | 'synced_at'>): Promise<SyncRow> {
    const row: SyncRow = { ...given, sync_id: newId('syn_'), synced_at: new Date().toISOString() }
    await this.syncs.put(row.sync_id, row)
    const over = (await this.syncs.count()) - mostSyncs
    if (over > 0)
      for (const { sync_id } of (await this.syncs.list({ limit: over })).items)
        await this.syncs.delete(sync_id)
    return row
  }
}

function demandSound({ kind, url, auth_ref }: Pick<EnvironmentRow, 'kind' | 'url' | 'auth_ref'>): void {
  const isRemote = kind === 'remote'
  const wrong = isRemote ? 'a remote environment needs it' : 'only a remote environment has it'
  if ((url !== null) !== isRemote) throw badRequest(`body url: ${wrong}.`, { param: 'url' })
  if ((auth_ref !== null) !== isRemote) throw badRequest(`body auth_ref: ${wrong}.`, { param: 'auth_ref' })
}
