import type { Principal } from '../call/call.ts'
import type { Chain } from '../chain/chain.ts'
import { conflict, toGatewayError } from '../errors.ts'

/** Who asks for a change to the plugins: the caller of a management route. */
export interface Actor {
  readonly ip: string
  /** Of the request; a module may let in requests by them. */
  readonly method?: string | undefined
  readonly path?: string | undefined
  readonly principal: Principal | undefined
  readonly requestId?: string | undefined
  /** The change is wanted even if it shuts out who asks for it. */
  readonly force?: boolean | undefined
}

/** Refuses a chain that would turn away the very caller who asks for it, so that nobody locks the door from outside. */
export async function refuseLockout(
  chain: Chain,
  { ip, method = 'PUT', path = '/', principal, force }: Actor,
): Promise<void> {
  if (force) return
  const visit = { ip, method, path, isCall: false }
  try {
    await chain.admit({ ...visit, principal: undefined })
    await chain.admit({ ...visit, principal })
  } catch (error) {
    const { message } = toGatewayError(error)
    throw conflict(`This change would shut you out: ${message} Send "force": true if you mean it.`, {
      param: 'force',
      cause: error,
    })
  }
}
