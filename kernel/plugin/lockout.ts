import { conflict } from '../../kit/errors.ts'
import type { Chain } from '../chain/chain.ts'
import type { Actor } from '../contract/section.ts'
import { toGatewayError } from '../to-gateway-error.ts'

/** Refuses a chain that would lock out the admin who makes the change. */
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
    throw conflict(`This change would lock you out: ${message} Send "force": true if you mean it.`, {
      param: 'force',
      cause: error,
    })
  }
}
