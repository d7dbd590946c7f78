import { z } from 'zod'
import { type Context, type KeyOwner, kernelServices, operator, type Principal } from '#kernel'
import { idParam, providerParam } from './shapes.ts'

interface Asked {
  readonly principal: Principal | undefined
  readonly params: { readonly id?: string | undefined }
}

/** The owner of the keys that a group of routes manages. The same routes exist for each holder, below another path. */
export interface Holder {
  readonly path: string
  readonly access: 'user' | 'admin'
  /** In summaries: `your own`, `a user's`. */
  readonly whose: string
  /** The type of a key made here; the prefix of an imported key gives its type. */
  readonly type: KeyOwner['type']
  /** Of the path: the holder's own, if any, and those of a route below. */
  readonly params: Params
  /** The holder's id; throws a not found when there is no such user. */
  id(asked: Asked): Promise<string>
}

interface Params {
  readonly bare: z.ZodType<{ id?: string | undefined }>
  readonly key: z.ZodType<{ id?: string | undefined; keyId: string }>
  readonly provider: z.ZodType<{ id?: string | undefined; provider: string }>
}

const paramsWith = <S extends z.ZodRawShape>(shape: S) => ({
  bare: z.strictObject(shape),
  key: z.strictObject({ ...shape, keyId: idParam }),
  provider: z.strictObject({ ...shape, provider: providerParam }),
})

const unnamed: Params = paramsWith({})
const named: Params = paramsWith({ id: idParam })

/** The holders of keys: the caller, a user that an admin names, and the operator, who owns keys without a user. */
export function holders({ use }: Context<unknown>): Record<'own' | 'user' | 'admin', Holder> {
  return {
    own: {
      path: '/api/auth/me',
      access: 'user',
      whose: 'your own',
      type: 'user',
      params: unnamed,
      id: async ({ principal }) => principal!.userId!,
    },
    user: {
      path: '/api/auth/users/{id}',
      access: 'admin',
      whose: 'a user’s',
      type: 'user',
      params: named,
      id: async ({ params }) => (await use(kernelServices.accounts).user(params.id!)).id,
    },
    admin: {
      path: '/api/auth/admin',
      access: 'admin',
      whose: 'the operator’s admin',
      type: 'admin',
      params: unnamed,
      id: async () => operator,
    },
  }
}
