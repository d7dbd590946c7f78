import { createPrivateKey, type KeyObject } from 'node:crypto'
import { z } from 'zod'

const filled = z.string().min(1)

const account = z.object({
  type: z.literal('service_account'),
  client_email: filled,
  private_key: filled,
  private_key_id: filled.optional(),
  project_id: filled.optional(),
})
const user = z.object({
  type: z.literal('authorized_user'),
  client_id: filled,
  client_secret: filled,
  refresh_token: filled,
  quota_project_id: filled.optional(),
})

/** An identity of another issuer's, as `gcloud iam workload-identity-pools create-cred-config` writes it. */
const federation = z.looseObject({
  type: z.literal('external_account'),
  audience: filled,
  subject_token_type: filled,
  token_url: z.url(),
  credential_source: z.looseObject({}),
  service_account_impersonation_url: z.url().optional(),
  quota_project_id: filled.optional(),
})

/** A key, parsed. */
export type GoogleKey =
  | { readonly kind: 'api-key'; readonly value: string }
  | { readonly kind: 'token'; readonly value: string }
  /** The identity of the machine that the gateway runs on; its metadata service gives the tokens. */
  | { readonly kind: 'machine' }
  /** A file that holds one of the next two. */
  | { readonly kind: 'file'; readonly path: string }
  | {
      readonly kind: 'account'
      readonly email: string
      readonly privateKey: KeyObject
      readonly keyId: string | undefined
      readonly project: string | undefined
    }
  | {
      readonly kind: 'user'
      readonly clientId: string
      readonly clientSecret: string
      readonly refreshToken: string
      readonly project: string | undefined
    }
  /** The gateway's machine reads, runs and requests the sources that it names: only the operator may give it. */
  | {
      readonly kind: 'federation'
      readonly configuration: z.infer<typeof federation>
      readonly project: string | undefined
    }

const forms =
  'expected an API key, an access token (ya29.…), or the JSON of a service account, of application default credentials or of a workload identity'

/** Whether a key names what is the gateway's own: its machine, or files and addresses that it reads. */
export const isOfGateway = ({ kind }: GoogleKey): boolean =>
  kind === 'machine' || kind === 'file' || kind === 'federation'

/** Takes a key apart; throws a RangeError that says what is wrong with its form, and nothing of what it holds. */
export function keyOf(secret: string): GoogleKey {
  const text = secret.trim()
  if (text.startsWith('{')) return fromJson(text)
  if (text === 'machine') return { kind: 'machine' }
  if (/^(?:[/~.\\]|[A-Za-z]:[\\/])/.test(text) || text.endsWith('.json')) return { kind: 'file', path: text }
  if (text === '' || /\s/.test(text)) throw new RangeError(`${forms}.`)
  return { kind: text.startsWith('ya29.') ? 'token' : 'api-key', value: text }
}

function fromJson(text: string): GoogleKey {
  const { data, error } = z.discriminatedUnion('type', [account, user, federation]).safeParse(parsed(text))
  if (!data) {
    const [issue] = error.issues
    throw new RangeError(`${issue?.path.join('.') ?? 'type'}: ${issue?.message}; ${forms}.`)
  }
  if (data.type === 'authorized_user') {
    return {
      kind: 'user',
      clientId: data.client_id,
      clientSecret: data.client_secret,
      refreshToken: data.refresh_token,
      project: data.quota_project_id,
    }
  }
  if (data.type === 'external_account') {
    return { kind: 'federation', configuration: data, project: data.quota_project_id }
  }
  return {
    kind: 'account',
    email: data.client_email,
    privateKey: privateKeyOf(data.private_key),
    keyId: data.private_key_id,
    project: data.project_id,
  }
}

function privateKeyOf(pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyType === 'rsa') return key
  } catch {
    // The reason may quote the key.
  }
  throw new RangeError('private_key: expected an RSA key in PEM.')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new RangeError(`it is not JSON; ${forms}.`)
  }
}
