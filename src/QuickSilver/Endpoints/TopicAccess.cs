namespace QuickSilver.Endpoints;

// The half of a topic for which an endpoint was opened. The values are those of the role that is requested from the membership service.
[Flags]
internal enum TopicAccess
{
    Publish = 1,
    Subscribe = 2,
    PublishAndSubscribe = Publish | Subscribe,
}
