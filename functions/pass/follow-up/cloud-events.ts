/** The library by names: loaded lazily and bundled, a CommonJS package has but a default export. */
export { CloudEvent, HTTP } from 'cloudevents';
