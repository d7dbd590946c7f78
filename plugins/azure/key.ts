import { z } from 'zod'

/** An application of Entra's, and how it shows that it is it. */
export type AzureClient = { readonly tenant: string; readonly clientId: string } & (
  | { readonly clientSecret: string }
  /** A certificate with its private key, in PEM. */
  | { readonly certificate: string }
  | { readonly certificateFile: string }
  /** A token of another issuer's that Entra trusts, as pods in AKS have it. */
  | { readonly tokenFile: string }
)

/** A key, parsed. */
export type AzureKey =
  /** A managed identity of the machine that the gateway runs on: its own, or one that is assigned to it by its id. */
  | { readonly kind: 'machine'; readonly clientId?: string }
  | { readonly kind: 'api-key' }
  | { readonly kind: 'token'; readonly value: string }
  | { readonly kind: 'client'; readonly client: AzureClient }

/** An id, or a domain. */
const tenant = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9.-]*$/, 'expected the id or the domain of a tenant')
const clientId = z.guid('expected the id of an application')
const about = { tenant_id: tenant, client_id: clientId }
const filled = z.string().min(1)
const json = z.strictObject({
  ...about,
  client_secret: filled.optional(),
  certificate: z
    .string()
    .regex(/-----BEGIN CERTIFICATE-----/, 'expected a certificate in PEM')
    .regex(/-----BEGIN (?:RSA )?PRIVATE KEY-----/, 'expected its private key beside it, in PEM')
    .optional(),
})

const forms =
  'expected an API key, a token of Entra’s, TENANT_ID:CLIENT_ID:CLIENT_SECRET, or JSON of tenant_id, client_id and client_secret or certificate'

/** Takes a key apart; throws a RangeError that says what is wrong with its form, and nothing of what it holds. */
export function keyOf(secret: string): AzureKey {
  const text = secret.trim()
  if (text === 'machine') return { kind: 'machine' }
  if (text.startsWith('machine:'))
    return { kind: 'machine', clientId: parsedWith(clientId, text.slice('machine:'.length)) }
  if (text.startsWith('{')) return clientOf(text)
  if (/^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(text)) return { kind: 'token', value: text }
  const [, way, rest = ''] = /^(federated|certificate):(.*)$/.exec(text) ?? []
  const [, tenant_id, client_id, shown = ''] =
    /^([^:\s]*):([^:\s]*):(\S+)$/.exec(way === undefined ? text : rest) ?? []
  if (tenant_id !== undefined) {
    const of = parsedWith(z.strictObject(about), { tenant_id, client_id })
    const named = { tenant: of.tenant_id, clientId: of.client_id }
    if (way === 'federated') return { kind: 'client', client: { ...named, tokenFile: shown } }
    if (way === 'certificate') return { kind: 'client', client: { ...named, certificateFile: shown } }
    return { kind: 'client', client: { ...named, clientSecret: shown } }
  }
  if (text === '' || /[\s:]/.test(text)) throw new RangeError(`${forms}.`)
  return { kind: 'api-key' }
}

/** Whether a key names what is the gateway's own: its machine, or files of it. */
export const isOfGateway = (key: AzureKey): boolean =>
  key.kind === 'machine' ||
  (key.kind === 'client' && ('tokenFile' in key.client || 'certificateFile' in key.client))

function clientOf(text: string): AzureKey {
  const { tenant_id, client_id, client_secret, certificate } = parsedWith(json, parsed(text))
  const named = { tenant: tenant_id, clientId: client_id }
  if (certificate !== undefined) return { kind: 'client', client: { ...named, certificate } }
  if (client_secret !== undefined)
    return { kind: 'client', client: { ...named, clientSecret: client_secret } }
  throw new RangeError(`${forms}.`)
}

function parsedWith<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
  const { data, error } = schema.safeParse(value)
  if (!error) return data
  const [issue] = error.issues
  const at = issue?.path.join('.')
  throw new RangeError(`${at ? `${at}: ` : ''}${issue?.message}; ${forms}.`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new RangeError(`it is not JSON; ${forms}.`)
  }
}
