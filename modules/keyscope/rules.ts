import { type Attempt, type Call, forbidden, type GatewayError, unauthorized, type Visit } from '#kernel'
import { compileGlobs, compileHours, limitTokens, type ModelName, modelName, tokenLimitFields } from '#kit'
import type { Scope } from './scope.ts'

/** A scope made ready to be asked. Every question is answered by silence, or by a refusal that names the rule. */
export class Rules {
  readonly #scope: Scope
  readonly #expires: number
  readonly #isActive: (now: number) => boolean
  readonly #matches: (model: string) => boolean

  constructor(scope: Scope) {
    this.#scope = scope
    this.#expires = scope.expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(scope.expires_at)
    this.#isActive = scope.active_hours ? compileHours(scope.active_hours) : () => true
    this.#matches = compileGlobs(scope.models ?? ['*'])
  }

  /** A request of any kind. */
  checkVisit({ method }: Visit): void {
    this.#checkTime()
    if (this.#scope.read_only && method !== 'GET' && method !== 'HEAD') throw readOnly()
  }

  /** A model call as the client made it. */
  checkCall(call: Call): void {
    this.#checkTime()
    const { endpoints, max_tokens: most, read_only } = this.#scope
    if (read_only) throw readOnly()
    if (endpoints && !endpoints.includes(call.wire)) {
      throw refusal('endpoints', `This key may not call ${call.wire}, only ${endpoints.join(', ')}.`)
    }
    if (call.context.provider !== undefined) this.#checkProvider(call.context.provider)
    const { model } = call.request
    if (!this.#matches(model) && !this.#mayAsk(modelName(call))) throw this.#wrongModel(model)
    const asked = Math.max(...tokenLimitFields.map((field) => call.request[field] ?? 0))
    if (most !== undefined && asked > most) {
      throw refusal('max_tokens', `This key may request at most ${most} tokens, not ${asked}.`, 'max_tokens')
    }
  }

  /** The target that is really reached: behind aliases, routers and fallbacks. */
  checkAttempt({ provider, model }: Attempt): void {
    this.#checkProvider(provider)
    if (!this.#mayGet(provider, model)) throw this.#wrongModel(model)
  }

  /** Whether a name may be asked for that leads to this model. */
  mayReach(asked: string, provider: string, model: string): boolean {
    const { providers } = this.#scope
    const isOpen = !providers || providers.includes(provider)
    const isAsked = this.#matches(asked) || this.#matches(withoutProvider(asked, provider))
    return isOpen && isAsked && this.#mayGet(provider, model)
  }

  #mayAsk({ provider, name }: ModelName): boolean {
    return provider === undefined ? this.#matches(name) : this.#mayGet(provider, name)
  }

  #mayGet(provider: string, model: string): boolean {
    return this.#matches(model) || this.#matches(`${provider}/${model}`)
  }

  /** The call with the most tokens it may have, if it leaves their number open. */
  bounded(call: Call): Call | undefined {
    const { max_tokens } = this.#scope
    if (max_tokens === undefined || call.operation === 'embedding') return undefined
    return limitTokens(call, max_tokens)
  }

  #checkTime(): void {
    const now = Date.now()
    const { expires_at } = this.#scope
    if (now >= this.#expires)
      throw unauthorized(`This key expired at ${expires_at}.`, { details: { rule: 'expires_at' } })
    if (!this.#isActive(now)) throw refusal('active_hours', 'This key does not work at this hour.')
  }

  #checkProvider(name: string): void {
    const { providers } = this.#scope
    if (!providers || providers.includes(name)) return
    throw refusal('providers', `This key may not reach the provider ${name}, only ${providers.join(', ')}.`)
  }

  #wrongModel(model: string): GatewayError {
    const allowed = this.#scope.models?.join(', ')
    return refusal('models', `This key may not reach the model ${model}, only ${allowed}.`, 'model')
  }
}

/** `openai/gpt-4o` asks openai for the model gpt-4o. */
const withoutProvider = (model: string, provider: string): string =>
  model.startsWith(`${provider}/`) ? model.slice(provider.length + 1) : model

const refusal = (rule: string, message: string, param?: string): GatewayError =>
  forbidden(message, { param, details: { rule } })

const readOnly = (): GatewayError => refusal('read_only', 'This key is for reading only.')
