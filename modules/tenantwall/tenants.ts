import {
  type Collection,
  conflict,
  newId,
  notFound,
  type Page,
  type PageOptions,
  type Store,
  type Transaction,
} from '#kernel'
import { followRows } from '#kit'
import type { Quotas } from './quotas.ts'
import { type Member, storedMember, storedTenant, type Tenant } from './records.ts'

export type TenantChange = {
  readonly name?: string | undefined
  readonly suspended?: boolean | undefined
  readonly quotas?: { readonly [K in keyof Quotas]?: number | null | undefined } | null | undefined
}

export const noTenant = (id: string): Error => notFound(`There is no tenant ${id}.`, { param: 'id' })

/** Tenants and their users. What calls ask for is answered from memory. */
export class Tenancy {
  readonly #store: Store
  readonly #rows: Collection<Tenant>
  readonly #members: Collection<Member>
  readonly #tenants = new Map<string, Tenant>()
  readonly #tenantOf = new Map<string, string>()

  constructor(store: Store) {
    this.#store = store
    this.#rows = store.collection('tenants', { schema: storedTenant })
    this.#members = store.collection('members', {
      schema: storedMember,
      indexes: { tenant: ({ tenant_id }) => tenant_id },
    })
  }

  /** Takes in what is stored, and from then on every change; returns what ends that. */
  async load(): Promise<() => void> {
    const endTenants = await followRows(this.#rows, (id, row) => keep(this.#tenants, id, row))
    const endMembers = await followRows(this.#members, (id, row) => keep(this.#tenantOf, id, row?.tenant_id))
    return () => {
      endTenants()
      endMembers()
    }
  }

  /** The tenant of a user. A membership of a tenant that is gone is none. */
  of(userId: string): Tenant | undefined {
    const id = this.#tenantOf.get(userId)
    return id === undefined ? undefined : this.#tenants.get(id)
  }

  find(id: string): Tenant | undefined {
    return this.#tenants.get(id)
  }

  /** Throws a not found. */
  get(id: string): Tenant {
    const tenant = this.find(id)
    if (!tenant) throw noTenant(id)
    return tenant
  }

  list(page: PageOptions): Promise<Page<Tenant>> {
    return this.#rows.list(page)
  }

  members(tenant: string, page: PageOptions): Promise<Page<Member>> {
    return this.#members.list({ index: 'tenant', equals: tenant, ...page })
  }

  count(tenant: string): Promise<number> {
    return this.#members.count({ index: 'tenant', equals: tenant })
  }

  /** Makes a tenant with its users, or nothing: rejects when one of them is in another. */
  async create(name: string, quotas: Quotas, suspended: boolean, users: readonly string[]): Promise<Tenant> {
    const id = newId('tnt_')
    const now = new Date().toISOString()
    const tenant = { id, name, suspended, quotas, created_at: now, updated_at: now }
    await this.#store.transaction((tx) => {
      tx.put(this.#rows, id, tenant)
      for (const user of users) this.#join(tx, user, tenant, now)
    })
    return tenant
  }

  /** Absent fields stay as they are; null for a quota, or for all of them, removes. */
  async change(id: string, { name, suspended, quotas }: TenantChange): Promise<Tenant> {
    const row = await this.#rows.update(id, (row) => {
      const set = quotas === null ? {} : { ...row?.quotas, ...quotas }
      return (
        row && {
          ...row,
          name: name ?? row.name,
          suspended: suspended ?? row.suspended,
          quotas: Object.fromEntries(
            Object.entries(set).filter(([, most]) => typeof most === 'number'),
          ) as Quotas,
          updated_at: new Date().toISOString(),
        }
      )
    })
    if (!row) throw noTenant(id)
    return row
  }

  /** Adds a user; rejects when it is in another tenant, or when this one is gone. */
  async add(id: string, user: string): Promise<Member> {
    return await this.#store.transaction((tx) => {
      const tenant = tx.get(this.#rows, id)
      if (!tenant) throw noTenant(id)
      return this.#join(tx, user, tenant, new Date().toISOString())
    })
  }

  /** True when the user was in a tenant: in this one, where it is named. */
  async remove(user: string, tenant?: string): Promise<boolean> {
    return await this.#store.transaction((tx) => {
      const member = tx.get(this.#members, user)
      if (!member || (tenant !== undefined && member.tenant_id !== tenant)) return false
      tx.delete(this.#members, user)
      return true
    })
  }

  /** Deletes a tenant, then its memberships: the users are in none from the first moment on. */
  async delete(id: string): Promise<boolean> {
    const wasThere = await this.#rows.delete(id)
    for await (const [user] of this.#members.scan({ index: 'tenant', equals: id }))
      await this.remove(user, id)
    return wasThere
  }

  #join(tx: Transaction, user: string, { id, name }: Tenant, now: string): Member {
    const member = tx.get(this.#members, user)
    const other = member && member.tenant_id !== id ? tx.get(this.#rows, member.tenant_id) : undefined
    if (other) {
      throw conflict(
        `The user ${user} is in the tenant ${other.id}: remove it there before it joins ${name}.`,
        {
          param: 'users',
        },
      )
    }
    if (member?.tenant_id === id) return member
    const joined = { user_id: user, tenant_id: id, added_at: now }
    tx.put(this.#members, user, joined)
    return joined
  }
}

function keep<T>(map: Map<string, T>, id: string, value: T | undefined): void {
  if (value === undefined) map.delete(id)
  else map.set(id, value)
}
