import { StoreError, type StoreErrorCode } from '../../storage/index.ts'
import {
  ClientGone,
  type ErrorCode,
  type ErrorDetail,
  GatewayError,
  isGatewayError,
  isUpstreamError,
  type UpstreamDetail,
  UpstreamError,
} from '../errors.ts'
import { HookFault } from '../hook-fault.ts'
import { Numbered, type Side } from './numbered.ts'

/** An error as it crosses. */
export interface Thrown {
  readonly name: string
  readonly message: string
  readonly coded?: { readonly code: ErrorCode; readonly detail: Omit<ErrorDetail, 'cause'> }
  /** With `coded`, of a provider's failure. */
  readonly upstream?: Pick<UpstreamError, 'provider' | 'model' | 'fault' | 'retryable' | 'native'> & {
    readonly providerStatus?: number
  }
  readonly stored?: StoreErrorCode
  /** Whose message is the kernel's own, and may be shown; or who left. */
  readonly kernel?: 'fault' | 'gone'
  /** By which both sides know it, where they do. */
  readonly number?: number
}

/** Anything thrown, as it crosses. */
export function thrownOf(error: unknown): Thrown {
  const { name, message } = error instanceof Error ? error : { name: typeof error, message: String(error) }
  if (error instanceof HookFault) return { name, message, kernel: 'fault' }
  if (error instanceof ClientGone) return { name, message, kernel: 'gone' }
  if (error instanceof StoreError) return { name, message, stored: error.code }
  if (!isGatewayError(error)) return { name, message }
  const { code, status, type, param, retryAfterS, details, module } = error
  const coded = { code, detail: { status, type, param, retryAfterS, details, module } }
  if (!isUpstreamError(error)) return { name, message, coded }
  const { provider, model, fault, retryable, native, providerStatus } = error
  const upstream = { provider, model, fault, retryable, native }
  return {
    name,
    message,
    coded,
    upstream: { ...upstream, ...(providerStatus !== undefined && { providerStatus }) },
  }
}

/** What was thrown on the other side: an error of the same class, where that is one of the kernel's. */
export function errorOf({ coded, upstream, stored, kernel, name, message }: Thrown): Error {
  if (coded && upstream) {
    const detail: UpstreamDetail = { ...coded.detail, ...upstream }
    return new UpstreamError(coded.code, message, detail)
  }
  if (coded) return new GatewayError(coded.code, message, coded.detail)
  if (stored) return new StoreError(stored, message)
  if (kernel === 'fault') return new HookFault(message)
  if (kernel === 'gone') return new ClientGone()
  const error = new Error(message)
  error.name = name
  return error
}

/** The errors of one call that crossed: one that crosses again, in either direction, is the very same error there. */
export class CrossedErrors {
  readonly #known: Numbered<unknown>
  readonly #side: Side

  constructor(side: Side) {
    this.#known = new Numbered(side)
    this.#side = side
  }

  thrownOf(error: unknown): Thrown {
    return { ...thrownOf(error), number: this.#known.numberOf(error) }
  }

  errorOf(thrown: Thrown): unknown {
    const { number } = thrown
    if (number === undefined) return errorOf(thrown)
    const known = this.#known.get(number)
    if (known !== undefined) return known
    const error = errorOf(thrown)
    this.#known.set(number, error)
    return error
  }

  /** Whether it was thrown here first. */
  isOwn({ number }: Thrown): boolean {
    return number !== undefined && number > 0 === (this.#side === 'host')
  }
}
