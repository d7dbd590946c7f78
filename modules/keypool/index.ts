import { z } from 'zod'
import { type Credential, defineModule } from '#kernel'
import { ensure } from '#kit'
import { KeyQuarantined, KeySelection, type KeySelector } from '#provider'
import { keysToTry } from './choice.ts'
import { noteFailure, noteSuccess, type Rest, type RestRules, type Rests, restOf } from './rests.ts'
import { newTurns, type Turns } from './turns.ts'

const seconds = z.number().min(0).max(86_400)

/**
 * A key that a provider limits (429) or refuses (401, 403) is left alone while another can be used, and no call is refused
 * for it: a limit that one call met is no verdict on the next, and the client's own retry needs the provider's word. So the
 * last key that can be used never rests for a limit. A user's own key is theirs alone, and always tried.
 */
export default defineModule({
  settings: z.strictObject({
    cooldown_s: seconds.default(1).meta({
      title: 'Cooldown',
      description:
        'Seconds that a key rests after a 429 without Retry-After if another key can be used. Each further 429 doubles it.',
    }),
    max_cooldown_s: seconds.default(3600).meta({
      title: 'Longest cooldown',
      description: 'Longest rest of a key in seconds, even if its provider asks for more.',
    }),
    quarantine_s: seconds.default(300).meta({
      title: 'Quarantine',
      description: 'Seconds that a key is not used after its provider refused it with 401 or 403.',
    }),
  }),

  setup({ settings, memory, provide, report, event, emit }) {
    event(KeyQuarantined)
    const rules: RestRules = {
      cooldownMs: settings.cooldown_s * 1000,
      maxCooldownMs: settings.max_cooldown_s * 1000,
      quarantineMs: settings.quarantine_s * 1000,
    }
    const rests = memory('rests', (): Rests => new Map())
    const turns = memory('turns', () => new Map<string, Turns>())

    const tell = (
      key: Credential,
      provider: string,
      model: string,
      { reason, status, until }: Rest,
    ): void => {
      const kind = reason === 'refused' ? 'quarantined' : 'resting'
      const restS = ((until - Date.now()) / 1000).toFixed(1)
      report(kind, `${provider} key …${key.hint}: status ${status}, for ${restS} s`)
      if (kind === 'resting') return
      const forModel = status === 401 ? null : model
      const { quarantine_s } = settings
      emit(KeyQuarantined, { provider, model: forModel, key_hint: key.hint, status, quarantine_s })
    }

    const selector: KeySelector = {
      order(to, keys) {
        if (keys[0]?.owner === 'user') return keys
        const own = ensure(turns, to.provider.name, newTurns)
        return keysToTry(keys, to.model, { rests, turns: own }, Date.now())
      },
      report({ provider, model }, key, error) {
        if (key.owner === 'user') return
        const now = Date.now()
        if (!error) return noteSuccess(rests, key, model, now)
        const canBeUsed = (other: Credential): boolean =>
          other.id !== key.id && !restOf(rests, other, model, now)
        if (error.providerStatus === 429 && !provider.keys.some(canBeUsed)) return
        const rest = noteFailure(rests, key, error, rules, now)
        if (rest) tell(key, provider.name, model, rest)
      },
    }
    provide(KeySelection, selector)
    return {}
  },
})
