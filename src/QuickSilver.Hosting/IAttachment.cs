namespace QuickSilver.Hosting;

// What was subscribed or attached to a topic of the host. It is attached to the endpoint of each node in turn.
internal interface IAttachment<T>
{
    void Attach(ITopic<T> topic);
}
