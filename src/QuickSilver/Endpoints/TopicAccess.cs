namespace QuickSilver.Endpoints;

// The half of a topic for which an endpoint was opened. The values are those of the role that is requested from the membership service.
// One byte, because thousands of idle endpoints have one.
[Flags]
internal enum TopicAccess : byte
{
    Publish = 1,
    Subscribe = 2,
    PublishAndSubscribe = Publish | Subscribe,
}
