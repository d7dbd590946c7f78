import { type Context, forbidden, type Principal } from '#kernel'
import type { Settings } from '../settings.ts'
import { AddressTarget } from './address.ts'
import type { CallFindings } from './findings.ts'
import { GatewayTarget } from './gateway.ts'
import { credentialFor } from './key.ts'
import type { Target } from './target.ts'

/** What is to be attacked, by whom. */
export interface Choice {
  readonly url?: string | undefined
  readonly model?: string | undefined
  readonly key?: string | undefined
  readonly project?: string | undefined
  readonly as: Principal
  readonly ip: string
  readonly tags: Readonly<Record<string, string>>
}

/** Throws for a caller who may not name an address; `param` is the field that has it. */
export function demandAddress({ addresses_by: by }: Settings, { type }: Principal, param: string): void {
  if (by === 'everybody' || type === 'admin') return
  throw forbidden(
    'Only admins attack addresses, until an admin allows it to all by `addresses_by: everybody` of `redteam`. Leave it out to attack the gateway.',
    { param },
  )
}

/** The target of attacks. Throws for a key that is for no provider. */
export function chooseTarget(
  context: Pick<Context<Settings>, 'call' | 'fetch' | 'settings' | 'use'>,
  findings: CallFindings,
  { url, model: asked, key, project, as, ip, tags }: Choice,
): Target {
  const { settings } = context
  const limits = { maxTokens: settings.max_tokens, timeoutMs: settings.timeout_s * 1000 }
  const model = asked ?? settings.model
  if (url !== undefined) return new AddressTarget(context, { url, model, key, ...limits })
  const credential = key === undefined ? undefined : credentialFor(context, model, key)
  return new GatewayTarget(context, findings, { as, ip, model, project, tags, credential, ...limits })
}
