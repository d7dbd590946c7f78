import { z } from 'zod'

/** What a key is, taken apart. */
export type AzureKey =
  /** The managed identity of the machine that the gateway runs on. */
  | { readonly kind: 'machine' }
  | { readonly kind: 'api-key' }
  | { readonly kind: 'token'; readonly value: string }
  | {
      readonly kind: 'client'
      readonly tenant: string
      readonly clientId: string
      readonly clientSecret: string
    }

/** An id, or a domain. */
const tenant = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9.-]*$/, 'expected the id or the domain of a tenant')
const clientId = z.guid('expected the id of an application')
const json = z.strictObject({ tenant_id: tenant, client_id: clientId, client_secret: z.string().min(1) })

const forms =
  'expected an API key, a token of Entra’s, TENANT_ID:CLIENT_ID:CLIENT_SECRET, or JSON of tenant_id, client_id and client_secret'

/** Takes a key apart; throws a RangeError that says what is wrong with its form, and nothing of what it holds. */
export function keyOf(secret: string): AzureKey {
  const text = secret.trim()
  if (text === 'machine') return { kind: 'machine' }
  if (text.startsWith('{')) return clientOf(parsed(text))
  if (/^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(text)) return { kind: 'token', value: text }
  const [, tenant_id, client_id, client_secret] = /^([^:\s]*):([^:\s]*):(\S*)$/.exec(text) ?? []
  if (tenant_id !== undefined) return clientOf({ tenant_id, client_id, client_secret })
  if (text === '' || /[\s:]/.test(text)) throw new RangeError(`${forms}.`)
  return { kind: 'api-key' }
}

function clientOf(value: unknown): AzureKey {
  const { data, error } = json.safeParse(value)
  if (data) {
    return {
      kind: 'client',
      tenant: data.tenant_id,
      clientId: data.client_id,
      clientSecret: data.client_secret,
    }
  }
  const [issue] = error.issues
  throw new RangeError(`${issue?.path.join('.')}: ${issue?.message}; ${forms}.`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new RangeError(`it is not JSON; ${forms}.`)
  }
}
