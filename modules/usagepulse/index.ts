import { z } from 'zod'
import { defineModule } from '#kernel'
import { Configurations } from '#kit'
import { addRoutes } from './routes.ts'
import { type Bounds, dimensions } from './usage.ts'

const usual: Bounds = { dimensions, mostTagValues: 1000 }

/** The reports are of all calls, so that only the module itself says what they show, and none of its bindings. */
const itself = 'usagepulse'

export default defineModule({
  settings: z.strictObject({
    dimensions: z
      .array(z.enum(dimensions))
      .min(1)
      .default([...dimensions])
      .meta({
        title: 'Dimensions',
        description: 'What usage may be grouped by.',
      }),
    max_tag_values: z.int().min(1).max(100_000).default(1000).meta({
      title: 'Values of a tag',
      description:
        'How many values of one tag a report lists, by their cost; the rest is one line `(other)`.',
    }),
  }),

  once(context) {
    const all = new Configurations<Bounds>()
    addRoutes(context, () => all.values[0] ?? usual)
    return all
  },

  setup({ id, settings, own }, all) {
    if (id === itself)
      own(all.add(id, { dimensions: settings.dimensions, mostTagValues: settings.max_tag_values }))
    if (!settings.dimensions.includes('tag')) return {}
    return {
      pure: true,
      request({ context: { tags }, trace }) {
        const names = Object.keys(tags)
        if (names.length > 0) trace.note(id, 'tagged', { tags: names })
        return undefined
      },
    }
  },
})
