import type { Provider, Target } from '#kernel'

/** How a provider is given a key, by the operator or by a user. */
export function keyAdvice({ name, spec }: Provider): string {
  const key = spec.key_env[0] ?? `providers.${name}.api_key`
  return `set ${key}, or store your own with PUT /api/auth/me/providers/${name}`
}

/** Says whose key was refused and why, or that none was sent and how to give one. `who` refused it. */
export function refusedKey(who: string, { key, provider }: Target, reason: string): string {
  if (!key)
    return `${who} needs a key, but the call was sent without one (${reason}): ${keyAdvice(provider)}.`
  const whose = key.owner === 'user' ? 'your own key' : "the gateway's key"
  return `${who} refused ${whose} (${reason}).`
}
