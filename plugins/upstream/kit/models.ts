import { type Principal, token } from '#kernel'

/** Offered by a module that gives models other names. */
export interface ModelNames {
  names(): readonly string[]
  /** The model that a name stands for; undefined for names that are none of these. */
  modelOf(name: string): string | undefined
}

export const ModelAliases = token<ModelNames>('model-aliases')

/** Offered by a module that limits which models a key may reach. */
export interface ModelScope {
  /** Whether the key may ask for a model by this name, when that leads to this model of this provider. */
  mayReach(principal: Principal, asked: string, provider: string, model: string): boolean
}

export const ModelScopes = token<ModelScope>('model-scopes')

/** Offered by a plugin that serves names of its own while it is set up for them. */
export interface ModelAdvice {
  /** What to do so that this name is served; undefined for names that are none of these. */
  adviceFor(model: string): string | undefined
}

export const ModelAdvice = token<ModelAdvice>('model-advice')
