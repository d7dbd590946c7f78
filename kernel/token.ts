declare const service: unique symbol

/** A typed name for a service. Symbols survive reloads and second copies of a module; classes do not. */
export type Token<T> = symbol & { readonly [service]?: T }

export const token = <T>(name: string): Token<T> => Symbol.for(`switchyard:${name}`) as Token<T>

/** The name of a service that a plugin may use only with the permission `service:<name>`. */
export const guardedToken = <T>(name: string): Token<T> => token(`service:${name}`)

/** The permission that a service asks for; undefined for one that every plugin may use. */
export const permissionOf = ({ description = '' }: symbol): string | undefined =>
  description.startsWith('switchyard:service:') ? description.slice('switchyard:'.length) : undefined
