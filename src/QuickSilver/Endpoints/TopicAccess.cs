namespace QuickSilver.Endpoints;

// Which half of a topic an endpoint was opened for. The values are those of the role that the membership service is asked for.
[Flags]
internal enum TopicAccess
{
    Publish = 1,
    Subscribe = 2,
    PublishAndSubscribe = Publish | Subscribe,
}
