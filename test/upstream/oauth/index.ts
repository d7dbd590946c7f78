import type { RecordedRequest } from '../record.ts'
import type { Answer, Wire } from '../wire.ts'

/** A token endpoint that is played, and what it has given out. */
export interface Issuer {
  readonly wire: Wire
  /** Tokens that are good. */
  readonly issued: Set<string>
  /** Lifetime of the tokens it gives out from now on. */
  expiresInS: number
}

/**
 * An OAuth 2.0 token endpoint, and a metadata service of Google's beside it. `fault` is the code of what is wrong with a request, by its form and path; undefined for a
 * good one.
 */
export function tokenIssuer(
  prefix: string,
  fault: (form: URLSearchParams, request: RecordedRequest) => string | undefined,
): Issuer {
  const issued = new Set<string>()
  let made = 0
  const issuer: Issuer = {
    issued,
    expiresInS: 3599,
    wire: {
      name: 'oauth',
      basePath: '',
      serves: () => true,
      refuse(request) {
        if (request.headers['metadata-flavor'] === 'Google' && request.method === 'GET') return undefined
        const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded')
        const error =
          request.method === 'GET' || isForm
            ? fault(new URLSearchParams(request.rawBody), request)
            : 'invalid_request'
        return error === undefined ? undefined : answer(400, { error, error_description: 'No.' })
      },
      respond() {
        made += 1
        const access_token = `${prefix}${made}`
        issued.add(access_token)
        return answer(200, { access_token, expires_in: issuer.expiresInS, token_type: 'Bearer' })
      },
      fail: (_, __, status) => answer(status, { error: 'temporarily_unavailable' }),
    },
  }
  return issuer
}

const answer = (status: number, body: object): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  stream: false,
  frames: [JSON.stringify(body)],
})
