import { badRequest, type Context, newId } from '#kernel'
import { type Allowance, holderOf } from '../allowance.ts'
import type { Settings } from '../settings.ts'
import { AddressRefused } from '../target/address.ts'
import { chooseTarget, demandAddress } from '../target/choose.ts'
import type { CallFindings } from '../target/findings.ts'
import { keyToSend } from '../target/key.ts'
import type { Previews } from '../verdict/preview.ts'
import { suggestCampaigns } from './bypass-event.ts'
import { probes } from './probes.ts'
import { runScan } from './run.ts'
import { scan, scanInput } from './shapes.ts'

interface Parts {
  readonly findings: CallFindings
  readonly previews: Previews
  readonly allowance: Allowance
}

/** The quick scan, which every tier has. */
export function addQuickscanRoute(
  context: Context<Settings>,
  { findings, previews, allowance }: Parts,
): void {
  const { settings } = context
  context.route({
    method: 'post',
    path: '/api/redteam/quickscan',
    access: 'any',
    summary: 'Send five probes to the gateway in your own name, or to an address, and grade what held',
    body: scanInput,
    returns: scan,
    throws: [403, 429],
    async handle({ body, principal, ip, headers, signal }) {
      const { target_url: url, model, api_key, system_prompt: system } = body
      const as = principal!
      if (url !== undefined) demandAddress(settings, as, 'target_url')
      const key = keyToSend(api_key, url, headers)
      const id = newId('scan_')
      const target = chooseTarget(context, findings, { url, model, key, as, ip, tags: { redteam: id } })
      allowance.take(holderOf(as), probes.length)
      const keys = api_key === undefined ? [] : [api_key]
      const done = await runScan(target, { id, system, previews, keys, signal }).catch(refused)
      await suggestCampaigns(context, as, done)
      return done
    },
  })
}

function refused(error: unknown): never {
  if (!(error instanceof AddressRefused)) throw error
  throw badRequest(
    'body target_url: the address is not public, and the operator has not allowed it under `egress.allow`.',
    { param: 'target_url' },
  )
}
