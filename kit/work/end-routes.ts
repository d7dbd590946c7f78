import { z } from 'zod'
import type { Principal } from '../../kernel/call/call.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { conflict } from '../errors.ts'

/** Work that goes on after the answer to the request for it, such as a run, and how clients end and delete it. */
export interface EndedByClients<P, T extends { readonly id: string }, R> {
  /** Of one, with its parameters. */
  readonly path: string
  readonly params: z.ZodType<P>
  /** The last segment of the path that ends it. */
  readonly verb: 'cancel' | 'stop'
  /** What the two routes do, for the documentation. */
  readonly summaries: { readonly end: string; readonly delete: string }
  /** What is said to who deletes one that goes on, such as `The run has not ended`. */
  readonly goesOn: string
  readonly returns: z.ZodType<R>
  /** One that the caller may end. Throws a not found. */
  find(params: P, principal: Principal | undefined): Promise<T>
  isOver(thing: T): boolean
  /** Throws a conflict for one that does not go on. */
  end(thing: T): Promise<unknown>
  /** Deletes one, and ends it first where it goes on. */
  delete(thing: T): Promise<unknown>
  show(thing: T): R | Promise<R>
}

/** Adds the routes by which clients end work, and delete it: what goes on is ended first, and only by `force`. */
export function addEndRoutes<P, T extends { readonly id: string }, R>(
  { route }: Pick<Context<unknown>, 'route'>,
  work: EndedByClients<P, T, R>,
): void {
  const { path, params, verb, summaries, goesOn, returns } = work

  route({
    method: 'post',
    path: `${path}/${verb}`,
    access: 'any',
    summary: summaries.end,
    params,
    returns,
    throws: [403, 404, 409],
    async handle({ params, principal }) {
      await work.end(await work.find(params, principal))
      return work.show(await work.find(params, principal))
    },
  })

  route({
    method: 'delete',
    path,
    access: 'any',
    summary: summaries.delete,
    params,
    query: z.strictObject({
      force: z.stringbool().default(false).meta({ description: 'Ends it first if it goes on.' }),
    }),
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [403, 404, 409],
    async handle({ params, query: { force }, principal }) {
      const thing = await work.find(params, principal)
      if (!force && !work.isOver(thing))
        throw conflict(`${goesOn}. End it by POST …/${verb}, or say force=true.`, { param: 'force' })
      await work.delete(thing)
      return { deleted: true as const, id: thing.id }
    },
  })
}
