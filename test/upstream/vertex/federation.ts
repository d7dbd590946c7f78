import type { RecordedRequest } from '../record.ts'
import type { Answer, Wire } from '../wire.ts'

/** An identity that Google knows of another issuer, and the account that it may be. */
export interface Federated {
  readonly audience: string
  readonly subjectToken: string
  readonly account: string
}

const grant = 'urn:ietf:params:oauth:grant-type:token-exchange'
const accessToken = 'urn:ietf:params:oauth:token-type:access_token'
const scope = 'https://www.googleapis.com/auth/cloud-platform'

/** Google's Security Token Service, and beside it what gives out tokens of accounts; they are added to `issued`. */
export function federationWith(known: Federated, issued: Set<string>): Wire {
  const exchanged = new Set<string>()
  let made = 0
  const isExchange = ({ path }: RecordedRequest): boolean => path === '/v1/token'
  const of = `/v1/projects/-/serviceAccounts/${known.account}:generateAccessToken`
  return {
    name: 'federation',
    basePath: '',
    serves: () => true,

    refuse(request) {
      if (request.method !== 'POST') return answer(405, { error: 'invalid_request' })
      if (isExchange(request)) {
        const error = exchangeFault(new URLSearchParams(request.rawBody), known)
        return error === undefined ? undefined : answer(400, { error, error_description: 'No.' })
      }
      if (request.path !== of) return answer(404, { error: { code: 404, status: 'NOT_FOUND' } })
      const { scope: scopes } = (request.body ?? {}) as { scope?: unknown }
      const isRight = exchanged.has(String(request.key)) && JSON.stringify(scopes) === JSON.stringify([scope])
      return isRight ? undefined : answer(403, { error: { code: 403, status: 'PERMISSION_DENIED' } })
    },

    respond(request) {
      made += 1
      if (isExchange(request)) {
        const access_token = `federated.${made}`
        exchanged.add(access_token)
        issued.add(access_token)
        const body = { access_token, issued_token_type: accessToken, token_type: 'Bearer', expires_in: 3600 }
        return answer(200, body)
      }
      const accessTokenOfAccount = `ya29.account.${made}`
      issued.add(accessTokenOfAccount)
      const expireTime = new Date(Date.now() + 3_600_000).toISOString()
      return answer(200, { accessToken: accessTokenOfAccount, expireTime })
    },

    fail: (_, __, status) => answer(status, { error: 'temporarily_unavailable' }),
  }
}

function exchangeFault(form: URLSearchParams, { audience, subjectToken }: Federated): string | undefined {
  if (form.get('grant_type') !== grant) return 'unsupported_grant_type'
  if (form.get('requested_token_type') !== accessToken) return 'invalid_request'
  if (form.get('subject_token_type') !== 'urn:ietf:params:oauth:token-type:jwt') return 'invalid_request'
  if (form.get('audience') !== audience) return 'invalid_target'
  if (form.get('scope') !== scope) return 'invalid_scope'
  return form.get('subject_token') === subjectToken ? undefined : 'invalid_grant'
}

const answer = (status: number, body: object): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  stream: false,
  frames: [JSON.stringify(body)],
})
