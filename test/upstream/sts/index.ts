import { signatureError } from '../bedrock/signature.ts'
import type { RecordedRequest } from '../record.ts'
import type { Answer, Rules, Wire } from '../wire.ts'

/** A role that AWS gives keys for, and who may have them. */
export interface PlayedRole {
  readonly arn: string
  /** ACCESS_KEY_ID:SECRET_ACCESS_KEY:SESSION_TOKEN. */
  readonly keys: string
  /** A secret that whoever assumes it must know. */
  readonly externalId?: string
  /** The token of another issuer's that opens it. */
  readonly webIdentity?: string
  /** The token of a single sign-on that opens it, by account and name of the role. */
  readonly singleSignOn?: string
}

const lifetimeMs = 3_600_000

/**
 * AWS's Security Token Service, for roles that are assumed with signed requests and with tokens of other issuers, and the
 * portal of its single sign-on. Signatures must be of the upstream's keys.
 */
export function stsWith(roles: readonly PlayedRole[]): Wire {
  return {
    name: 'sts',
    basePath: '',
    serves: ({ path }) => path === '/' || path === '/federation/credentials',

    refuse(request, rules) {
      const code = request.path === '/' ? fault(request, rules, roles) : portalFault(request, roles)
      return code === undefined ? undefined : failure(request, 403, code)
    },

    respond(request) {
      if (request.path !== '/') return portalAnswer(roleOfPortal(request, roles)!)
      const form = new URLSearchParams(request.rawBody)
      return tokenAnswer(form.get('Action')!, roles.find(({ arn }) => arn === form.get('RoleArn'))!)
    },

    fail: (request, script, status) => failure(request, status, script.error?.type ?? 'ServiceUnavailable'),
  }
}

function fault(request: RecordedRequest, rules: Rules, roles: readonly PlayedRole[]): string | undefined {
  if (request.method !== 'POST') return 'InvalidAction'
  if (!request.headers['content-type']?.startsWith('application/x-www-form-urlencoded'))
    return 'InvalidAction'
  const form = new URLSearchParams(request.rawBody)
  if (form.get('Version') !== '2011-06-15') return 'InvalidAction'
  const role = roles.find(({ arn }) => arn === form.get('RoleArn'))
  const seconds = Number(form.get('DurationSeconds') ?? 3600)
  if (seconds < 900 || seconds > 43_200) return 'ValidationError'
  if (!/^[\w+=,.@-]{2,64}$/.test(form.get('RoleSessionName') ?? '')) return 'ValidationError'
  if (form.get('Action') === 'AssumeRoleWithWebIdentity') {
    if (request.headers.authorization !== undefined) return 'SignatureDoesNotMatch'
    const token = form.get('WebIdentityToken')
    return role && role.webIdentity === token ? undefined : 'InvalidIdentityToken'
  }
  if (form.get('Action') !== 'AssumeRole') return 'InvalidAction'
  const unsigned = signatureError(request, rules.keys, 'sts')
  if (unsigned !== undefined) return unsigned
  return role && role.externalId === (form.get('ExternalId') ?? undefined) ? undefined : 'AccessDenied'
}

const portalFault = (request: RecordedRequest, roles: readonly PlayedRole[]): string | undefined =>
  request.method === 'GET' && roleOfPortal(request, roles) ? undefined : 'UnauthorizedException'

function roleOfPortal(
  { query, headers }: RecordedRequest,
  roles: readonly PlayedRole[],
): PlayedRole | undefined {
  const arn = `arn:aws:iam::${query.get('account_id')}:role/${query.get('role_name')}`
  return roles.find((role) => role.arn === arn && role.singleSignOn === headers['x-amz-sso_bearer_token'])
}

function portalAnswer({ keys }: PlayedRole): Answer {
  const [accessKeyId, secretAccessKey, sessionToken] = keys.split(':')
  const expiration = Date.now() + lifetimeMs
  return json(200, { roleCredentials: { accessKeyId, secretAccessKey, sessionToken, expiration } })
}

function tokenAnswer(action: string, { arn, keys }: PlayedRole): Answer {
  const [id, secret, token] = keys.split(':')
  return xml(
    200,
    `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result>` +
      `<AssumedRoleUser><Arn>${arn}/session</Arn><AssumedRoleId>AROA:session</AssumedRoleId></AssumedRoleUser>` +
      `<Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>${secret}</SecretAccessKey>` +
      `<SessionToken>${token}</SessionToken>` +
      `<Expiration>${new Date(Date.now() + lifetimeMs).toISOString()}</Expiration></Credentials>` +
      `</${action}Result><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></${action}Response>`,
  )
}

function failure({ path }: RecordedRequest, status: number, code: string): Answer {
  if (path !== '/') return json(status, { message: 'Session token not found or invalid' }, code)
  const type = status < 500 ? 'Sender' : 'Receiver'
  return xml(
    status,
    `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>${type}</Type>` +
      `<Code>${code}</Code><Message>No.</Message></Error><RequestId>1</RequestId></ErrorResponse>`,
  )
}

const xml = (status: number, body: string): Answer => ({
  status,
  headers: { 'content-type': 'text/xml' },
  stream: false,
  frames: [body],
})

const json = (status: number, body: object, errorType?: string): Answer => ({
  status,
  headers: {
    'content-type': 'application/json',
    ...(errorType !== undefined && { 'x-amzn-errortype': errorType }),
  },
  stream: false,
  frames: [JSON.stringify(body)],
})
