import { z } from 'zod'
import { conflict, notFound, type OnceContext } from '#kernel'
import { listed, listOf, listQuery, pageOf } from '#kit'
import type { Course } from './course.ts'
import { type Move, rolloutSchema, type Standing, standingSchema } from './rollout.ts'
import type { Defined, Rollouts } from './rollouts.ts'

const base = '/api/modules/canarydeploy/rollouts'
const params = z.strictObject({ name: z.string().max(600) })

const figures = z.object({
  calls: z.int(),
  failed: z.int(),
  error_rate: z.number().nullable(),
  p95_ms: z.number().nullable(),
})

const item = z.object({
  name: z
    .string()
    .meta({ description: 'With the name of the binding and a colon in front for one of a binding.' }),
  ...rolloutSchema.shape,
  ...standingSchema.omit({ of: true }).shape,
  stable: figures.meta({ description: 'What the stable model did in the window.' }),
  canary: figures.meta({ description: 'What the new model did in the window.' }),
})

interface Parts {
  readonly rollouts: Rollouts
  readonly course: Course
  defined(): readonly Defined[]
}

/** To see rollouts, promote them, roll them back and begin them again; for admins. */
export function addRoutes({ route }: OnceContext, { rollouts, course, defined }: Parts): void {
  const itemOf = (one: Defined) => {
    const standing = rollouts.standing(one.id)!
    return { name: one.id, ...one.rollout, ...standing, ...course.figures(one, standing) }
  }
  const known = (): Defined[] => defined().filter(({ id }) => rollouts.standing(id))

  function find(name: string): { one: Defined; standing: Standing } {
    const one = defined().find(({ id }) => id === name)
    const standing = one && rollouts.standing(one.id)
    if (!one || !standing) throw notFound(`There is no rollout ${name}.`, { param: 'name' })
    return { one, standing }
  }

  async function move(name: string, moveOf: (standing: Standing, one: Defined) => Move | string) {
    const { one, standing } = find(name)
    const wanted = moveOf(standing, one)
    if (typeof wanted === 'string') throw conflict(wanted, { param: 'name' })
    if (!(await rollouts.move(one, standing, wanted))) {
      throw conflict(`The rollout ${name} has changed meanwhile. Look at it and try again.`, {
        param: 'name',
      })
    }
    return itemOf(one)
  }

  route({
    method: 'get',
    path: base,
    access: 'admin',
    summary: 'The rollouts and how far they are',
    query: listQuery,
    returns: listOf('rollouts', item),
    handle({ query }) {
      const page = pageOf(known(), query, ({ id }) => id)
      return listed('rollouts', { ...page, items: page.items.map(itemOf) }, query)
    },
  })

  route({
    method: 'get',
    path: `${base}/{name}`,
    access: 'admin',
    summary: 'One rollout',
    params,
    returns: item,
    throws: [404],
    handle: ({ params: { name } }) => itemOf(find(name).one),
  })

  route({
    method: 'post',
    path: `${base}/{name}/promote`,
    access: 'admin',
    summary: 'Send more calls to the new model: all, or as many as the next step says',
    params,
    body: z.strictObject({
      to: z
        .enum(['next', 'all'])
        .default('all')
        .meta({ description: 'The next step, or all calls for good.' }),
    }),
    returns: item,
    throws: [404, 409],
    handle: ({ params: { name }, body: { to } }) =>
      move(name, ({ status, percent }, { rollout: { steps } }) => {
        const next = steps.find((step) => step > percent)
        if (status === 'completed') return `The rollout ${name} is completed.`
        if (status === 'rolled_back') return `The rollout ${name} was rolled back. Restart it first.`
        if (to === 'all' || next === undefined)
          return { status: 'completed', percent: 100, reason: 'promoted by an admin' }
        return { status: 'running', percent: next, reason: 'promoted by an admin' }
      }),
  })

  route({
    method: 'post',
    path: `${base}/{name}/rollback`,
    access: 'admin',
    summary: 'Send no more calls to the new model, at once',
    params,
    body: z.strictObject({
      reason: z
        .string()
        .min(1)
        .max(500)
        .default('rolled back by an admin')
        .meta({ description: 'Kept and told.' }),
    }),
    returns: item,
    throws: [404, 409],
    handle: ({ params: { name }, body: { reason } }) =>
      move(name, ({ status }) =>
        status === 'rolled_back'
          ? `The rollout ${name} is rolled back already.`
          : { status: 'rolled_back', percent: 0, reason },
      ),
  })

  route({
    method: 'post',
    path: `${base}/{name}/restart`,
    access: 'admin',
    summary: 'Begin again at the first step, with new figures',
    params,
    returns: item,
    throws: [404],
    async handle({ params: { name } }) {
      const { one } = find(name)
      await rollouts.restart(one)
      return itemOf(one)
    },
  })
}
