namespace QuickSilver.Endpoints.Subscriptions;

// A call of a handler that has not returned.
internal readonly record struct RunningHandler(TopicSubscription Subscription, object Handler, int Call, string Method, Type Payload)
{
    public bool IsSameCall(in RunningHandler other) => ReferenceEquals(Handler, other.Handler) && Call == other.Call;
}
