/** An identity that stands in place of a key: AWS gives keys to its holder. */
export type AwsIdentity =
  /** The task, pod or instance that the gateway runs on. */
  | { readonly kind: 'machine' }
  /** A profile of AWS's own configuration files, single sign-on included. */
  | { readonly kind: 'profile'; readonly name: string }
  /** A role for the holder of another issuer's token, such as a pod in EKS. */
  | { readonly kind: 'web-identity'; readonly role: string; readonly file: string }

export const roleForm = /^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/

/** The identity that a key stands for; undefined for keys that are used themselves. Throws a RangeError for half of one. */
export function identityOf(secret: string): AwsIdentity | undefined {
  const text = secret.trim()
  if (text === 'machine') return { kind: 'machine' }
  if (text.startsWith('profile:')) {
    const name = text.slice('profile:'.length)
    if (name === '') throw new RangeError('expected profile:NAME.')
    return { kind: 'profile', name }
  }
  if (!text.startsWith('web-identity:')) return undefined
  const [, role = '', file = ''] = /^web-identity:(arn:[^:]*:iam::\d+:[^:]*):(.+)$/.exec(text) ?? []
  if (roleForm.test(role)) return { kind: 'web-identity', role, file }
  throw new RangeError('expected web-identity:ROLE_ARN:TOKEN_FILE.')
}
