import { HookFault } from '../../chain/hook-fault.ts'
import { GatewayError, isGatewayError } from '../../errors.ts'
import type { Thrown } from './messages.ts'

/** Anything thrown, as it crosses. */
export function thrownOf(error: unknown): Thrown {
  const { name, message } = error instanceof Error ? error : { name: typeof error, message: String(error) }
  const fault = error instanceof HookFault
  if (!isGatewayError(error)) return { name, message, fault }
  const { code, status, type, param, retryAfterS, details, module } = error
  return {
    coded: { code, detail: { status, type, param, retryAfterS, details, module } },
    name,
    message,
    fault,
  }
}

/** What was thrown on the other side. */
export function errorOf({ coded, fault, name, message }: Thrown): Error {
  if (coded) return new GatewayError(coded.code, message, coded.detail)
  if (fault) return new HookFault(message)
  const error = new Error(message)
  error.name = name
  return error
}
