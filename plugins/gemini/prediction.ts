import type { ModelRequest } from '#kernel'

/** An embedding model that has its forms of Vertex AI and not of the Gemini API. */
export interface Prediction {
  readonly most: number
  readonly method: string
  body(texts: readonly string[], request: ModelRequest): object
}

interface Parameters {
  readonly outputDimensionality?: unknown
  readonly taskType?: unknown
  readonly title?: unknown
}

/** The parameters that all forms have; each puts them elsewhere. */
export function embeddingParameters({ dimensions, task_type, title }: ModelRequest): Parameters {
  return {
    ...(dimensions !== undefined && dimensions !== null && { outputDimensionality: dimensions }),
    ...(task_type !== undefined && { taskType: task_type }),
    ...(title !== undefined && { title }),
  }
}

const predict = (most: number): Prediction => ({
  most,
  method: 'predict',
  body(texts, request) {
    const { outputDimensionality, taskType, title } = embeddingParameters(request)
    const instances = texts.map((content) => ({
      content,
      ...(taskType !== undefined && { task_type: taskType }),
      ...(title !== undefined && { title }),
    }))
    return { instances, ...(outputDimensionality !== undefined && { parameters: { outputDimensionality } }) }
  },
})

const embedContent: Prediction = {
  most: 1,
  method: 'embedContent',
  body(texts, request) {
    const config = embeddingParameters(request)
    return {
      content: { parts: texts.map((text) => ({ text })) },
      ...(Object.keys(config).length > 0 && { embedContentConfig: config }),
    }
  },
}

/** The older models predict, the first Gemini one for one text at a time; the newer ones are asked as by the Gemini API. */
export function predictionOf(model: string): Prediction {
  if (/gemini-embedding-001/.test(model)) return predict(1)
  return /gemini/.test(model) ? embedContent : predict(250)
}
