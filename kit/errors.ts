/** The codes of the documented envelope; every failure has one of them. */
export type ErrorCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'rate_limited'
  | 'internal_error'
  | 'provider_error'
  | 'circuit_open'

/** Where an error names none of its own: its status, and its `type` as the OpenAI clients know it. */
const defaults: Readonly<Record<ErrorCode, readonly [status: number, type: string]>> = {
  bad_request: [400, 'invalid_request_error'],
  unauthorized: [401, 'authentication_error'],
  forbidden: [403, 'permission_error'],
  not_found: [404, 'not_found_error'],
  rate_limited: [429, 'rate_limit_error'],
  internal_error: [500, 'server_error'],
  provider_error: [502, 'upstream_error'],
  circuit_open: [503, 'upstream_error'],
}

export interface ErrorDetail {
  /** HTTP status, where it is not the code's own (413, 409, 422, 504 …). */
  readonly status?: number | undefined
  readonly type?: string | undefined
  /** The field at fault, as a path. */
  readonly param?: string | undefined
  /** The module that refused. */
  readonly module?: string | undefined
  readonly retryAfterS?: number | undefined
  /** Facts for the caller, rendered as they are: never secrets, prompts or bodies. */
  readonly details?: Readonly<Record<string, unknown>> | undefined
  readonly cause?: unknown
}

/** A failure with a meaning: thrown once, rendered in one place. The message is written for the caller. */
export class GatewayError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly type: string
  readonly param: string | undefined
  readonly retryAfterS: number | undefined
  readonly details: Readonly<Record<string, unknown>> | undefined
  /** Set by the chain when a module's hook threw it. */
  module: string | undefined

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause })
    this.name = 'GatewayError'
    this.code = code
    const [status, type] = defaults[code]
    this.status = detail.status ?? status
    this.type = detail.type ?? type
    this.param = detail.param
    this.module = detail.module
    this.retryAfterS = detail.retryAfterS
    this.details = detail.details
  }
}

type Make = (message: string, detail?: ErrorDetail) => GatewayError
const maker =
  (code: ErrorCode): Make =>
  (message, detail) =>
    new GatewayError(code, message, detail)

export const badRequest = maker('bad_request')
export const unauthorized = maker('unauthorized')
export const forbidden = maker('forbidden')
export const notFound = maker('not_found')
export const rateLimited = maker('rate_limited')
export const internalError = maker('internal_error')
export const providerError = maker('provider_error')
export const circuitOpen = maker('circuit_open')
export const conflict: Make = (message, detail) => badRequest(message, { ...detail, status: 409 })
export const tooLarge: Make = (message, detail) => badRequest(message, { ...detail, status: 413 })

/** A refusal because of what a message says. */
export const contentBlocked: Make = (message, detail) =>
  badRequest(message, { ...detail, type: 'content_blocked' })

export type UpstreamFault = 'status' | 'network' | 'timeout' | 'protocol'

export interface UpstreamDetail extends ErrorDetail {
  readonly provider: string
  readonly model: string
  readonly fault: UpstreamFault
  /** The provider's own status, when it sent one. */
  readonly providerStatus?: number | undefined
  /** Whether another attempt, here or elsewhere, may succeed. */
  readonly retryable: boolean
  /** The provider's error type or code, for the trace. */
  readonly native?: string | undefined
}

/** A provider failed: it answered with an error, not at all, or not in its own language. */
export class UpstreamError extends GatewayError {
  readonly provider: string
  readonly model: string
  readonly fault: UpstreamFault
  readonly providerStatus: number | undefined
  readonly retryable: boolean
  readonly native: string | undefined

  constructor(code: ErrorCode, message: string, detail: UpstreamDetail) {
    super(code, message, detail)
    this.name = 'UpstreamError'
    this.provider = detail.provider
    this.model = detail.model
    this.fault = detail.fault
    this.providerStatus = detail.providerStatus
    this.retryable = detail.retryable
    this.native = detail.native
  }
}

/** Why a call is over before its time; not a failure of anybody. */
export class ClientGone extends Error {
  constructor() {
    super('the client left')
    this.name = 'ClientGone'
  }
}

export const isGatewayError = (error: unknown): error is GatewayError => error instanceof GatewayError
export const isUpstreamError = (error: unknown): error is UpstreamError => error instanceof UpstreamError

/** Status and type of a passing state of the gateway, as opposed to its mistakes. */
export const unavailable = { status: 503, type: 'unavailable' } as const

/** Seconds after which a request that met a gateway about to stop may be tried again. */
const drainRetryS = 5

/** The error for every new request while the gateway only lets running calls end. */
export const draining = (): GatewayError =>
  internalError('The gateway is draining: it stops once running calls have ended. Try again in a moment.', {
    status: 503,
    type: 'draining',
    retryAfterS: drainRetryS,
  })

/** Whether an error is a mistake of the gateway's own, for its log: not one of the state it is in. */
export const isMistake = ({ code, type }: GatewayError): boolean =>
  code === 'internal_error' && type !== unavailable.type && type !== 'draining'

/** The documented envelope, a superset of what OpenAI clients read. */
export function envelope(error: GatewayError, requestId: string) {
  return {
    error: {
      code: error.code,
      message: error.message,
      status: error.status,
      type: error.type,
      param: error.param ?? null,
      request_id: requestId,
      ...(error.module === undefined ? {} : { module: error.module }),
      ...(error.details === undefined ? {} : { details: error.details }),
    },
  }
}
