import { type Call, type ErrorCode, GatewayError, isUpstreamError } from '#kernel'
import type { Brand, errorCodes } from './brands.ts'
import { namePattern, targetsOf } from './hidden.ts'

const usual: Readonly<Record<(typeof errorCodes)[number], string>> = {
  bad_request: 'The request cannot be answered as it is.',
  unauthorized: 'The key is missing, or it does not work.',
  forbidden: 'This is not allowed for your key.',
  not_found: 'There is no such model.',
  rate_limited: 'There are too many requests. Try again later.',
  internal_error: 'Something failed. Try again later.',
  provider_error: 'The model did not answer. Try again.',
  circuit_open: 'The model cannot be reached. Try again later.',
}

/** Codes of errors that a client can act upon by what their message says. The messages of all others speak of providers. */
const telling: ReadonlySet<ErrorCode> = new Set([
  'bad_request',
  'unauthorized',
  'rate_limited',
  'internal_error',
])

/** Whether a header or an error names a provider or a model. */
export function namesOne(call: Call | undefined, { hidden }: Brand): (said: unknown) => boolean {
  const targets = call && namePattern(targetsOf(call))
  return (said) => {
    const text = typeof said === 'string' ? said : (JSON.stringify(said) ?? '')
    return [hidden, targets].some((pattern) => pattern !== undefined && text.search(pattern) !== -1)
  }
}

/** An error with the brand's words, the same for a client's program: status, code, type, field and wait stay. */
export function brandedError(error: GatewayError, call: Call | undefined, brand: Brand): GatewayError {
  const { code, message, status, type, param, module, retryAfterS, details } = error
  const names = namesOne(call, brand)
  const isOpen = telling.has(code) && !isUpstreamError(error) && param !== 'X-Provider' && !names(message)
  const text = brand.error_texts[code] ?? (isOpen ? message : usual[code])
  return new GatewayError(code, text, {
    status,
    type: names(type) ? undefined : type,
    param: names(param ?? '') ? undefined : param,
    retryAfterS,
    ...(isOpen && { module, details: names(details) ? undefined : details }),
  })
}
