import { z } from 'zod'
import { type GatewayError, internalError, type Target } from '#kernel'

/** A key, parsed: keys of an AWS account that sign each request, or one of Bedrock's own, sent as it is. */
export type AwsCredential = {
  /** Where it is used, if it says so itself. */
  readonly region?: string | undefined
} & (
  | { readonly kind: 'bearer'; readonly token: string }
  | {
      readonly kind: 'signing'
      readonly accessKeyId: string
      readonly secretAccessKey: string
      readonly sessionToken?: string | undefined
    }
)

const regionForm = /^[a-z]{2,4}(?:-[a-z]+){1,3}-\d{1,2}$/
const accessKeyForm = /^[A-Z0-9]{16,128}$/

const region = z.string().regex(regionForm, 'expected a region, such as us-east-1').optional()
const unbroken = z.string().regex(/^\S+$/, 'expected no spaces or line breaks')
const json = z.union([
  z.strictObject({ api_key: unbroken, region }),
  z.strictObject({
    access_key_id: z.string().regex(accessKeyForm, 'expected capital letters and digits, such as AKIA…'),
    secret_access_key: unbroken,
    session_token: unbroken.optional(),
    region,
  }),
])

const forms = `expected an API key of Bedrock, ACCESS_KEY_ID:SECRET_ACCESS_KEY[:SESSION_TOKEN], each with @region after it where another region is meant, or JSON of access_key_id, secret_access_key, session_token and region`

/** Takes a key apart; throws a RangeError that says what is wrong with its form, and nothing of what it holds. */
export function credentialOf(secret: string): AwsCredential {
  const text = secret.trim()
  if (text.startsWith('{')) return fromJson(text)
  if (/\s/.test(text)) throw new RangeError(`it contains spaces or line breaks: ${forms}.`)
  const at = text.lastIndexOf('@')
  const place = at === -1 ? undefined : text.slice(at + 1)
  if (place !== undefined && !regionForm.test(place)) throw new RangeError(`after @: ${forms}.`)
  const [id = '', secretAccessKey, sessionToken, ...more] = (at === -1 ? text : text.slice(0, at)).split(':')
  if (secretAccessKey === undefined) {
    if (id === '' || accessKeyForm.test(id)) throw new RangeError(`it has no secret: ${forms}.`)
    return { kind: 'bearer', token: id, region: place }
  }
  if (!accessKeyForm.test(id) || secretAccessKey === '' || more.length > 0) throw new RangeError(`${forms}.`)
  return {
    kind: 'signing',
    accessKeyId: id,
    secretAccessKey,
    sessionToken: sessionToken || undefined,
    region: place,
  }
}

/** Where a key is used, if it says so itself; identities of the machine and keys without a sound form do not. */
export function regionIn(secret: string): string | undefined {
  try {
    return credentialOf(secret).region
  } catch {
    return undefined
  }
}

/** The error of a call with a key of the operator's that has no sound form. */
export const keyFault = ({ message }: RangeError, { provider }: Target): GatewayError =>
  internalError(`The key for ${provider.name}: ${message}`)

function fromJson(text: string): AwsCredential {
  const { data, error } = json.safeParse(parsed(text))
  if (!data) throw new RangeError(`${problemOf(error)}; ${forms}.`)
  if ('api_key' in data) return { kind: 'bearer', token: data.api_key, region: data.region }
  return {
    kind: 'signing',
    accessKeyId: data.access_key_id,
    secretAccessKey: data.secret_access_key,
    sessionToken: data.session_token,
    region: data.region,
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new RangeError(`it is not JSON: ${forms}.`)
  }
}

/** The first thing that is wrong with the form that was most likely meant. */
function problemOf(error: z.ZodError): string {
  const [issue] = error.issues
  const meant = issue?.code === 'invalid_union' ? issue.errors.at(-1)?.[0] : issue
  const at = meant?.path.join('.')
  return at ? `${at}: ${meant?.message}` : (meant?.message ?? 'it has another form')
}
