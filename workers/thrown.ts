import {
  ClientGone,
  type ErrorCode,
  GatewayError,
  isUpstreamError,
  type UpstreamDetail,
  UpstreamError,
} from '../kit/errors.ts'
import { HookFault } from '../kit/work/hook-fault.ts'
import { StoreError, type StoreErrorCode } from '../storage/index.ts'
import type { ErrorCodec } from '../storage/shared/rpc-port.ts'

/** An error as it crosses between threads. */
export interface Thrown {
  readonly name: string
  readonly message: string
  /** Which of the kernel's classes it is of, if it is of one: of those, the message may be shown. */
  readonly of?: 'gateway' | 'upstream' | 'store' | 'fault' | 'gone'
  /** The properties of such an error beside its message. */
  readonly detail?: object
}

/** Anything thrown, as it crosses. */
export function thrownOf(error: unknown): Thrown {
  const { name, message } = error instanceof Error ? error : { name: typeof error, message: String(error) }
  if (error instanceof HookFault) return { name, message, of: 'fault' }
  if (error instanceof ClientGone) return { name, message, of: 'gone' }
  if (error instanceof StoreError) return { name, message, of: 'store', detail: { ...error } }
  if (!(error instanceof GatewayError)) return { name, message }
  return { name, message, of: isUpstreamError(error) ? 'upstream' : 'gateway', detail: { ...error } }
}

/** The error from the other side: of the same class, where that is one of the kernel's. */
export function errorOf({ name, message, of, detail }: Thrown): Error {
  const given = detail as UpstreamDetail & { readonly code: ErrorCode & StoreErrorCode }
  if (of === 'upstream') return new UpstreamError(given.code, message, given)
  if (of === 'gateway') return new GatewayError(given.code, message, given)
  if (of === 'store') return new StoreError(given.code, message)
  if (of === 'fault') return new HookFault(message)
  if (of === 'gone') return new ClientGone()
  return Object.assign(new Error(message), { name })
}

/** How errors cross between threads of a gateway. */
export const errors: ErrorCodec = { encode: thrownOf, decode: errorOf }
