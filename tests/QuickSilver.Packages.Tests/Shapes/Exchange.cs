using System.Text.Json;
using QuickSilver;

public abstract class Exchange
{
    public abstract Task RunAsync(QuickSilverNode node, CancellationToken limit);

    public abstract Task OpenAsync(QuickSilverNode node, CancellationToken limit);
}

// Publishes a value, and reads it and the other process's, which must look as expected.
public sealed class Exchange<T>(string name, T sent, T expected) : Exchange
{
    private static readonly JsonSerializerOptions Json = new() { IncludeFields = true };

    public Exchange(string name, T both)
        : this(name, both, both)
    {
    }

    public override async Task OpenAsync(QuickSilverNode node, CancellationToken limit) =>
        await node.OpenTopicAsync<T>(name, cancellationToken: limit);

    public override async Task RunAsync(QuickSilverNode node, CancellationToken limit)
    {
        var topic = await node.OpenTopicAsync<T>(name, cancellationToken: limit);
        var read = new List<string>();
        try
        {
            await topic.WaitForSubscribersAsync(2, limit);
            await topic.PublishAsync(sent, limit);
            await foreach (var message in topic.ReadAllAsync(limit))
            {
                read.Add(Text(message.Value));
                if (read.Count == 2)
                {
                    break;
                }
            }
        }
        catch (OperationCanceledException)
        {
            throw new TimeoutException($"{name}: {read.Count} of 2 values came, {topic.Subscribers} subscribe.");
        }

        string[] wanted = [Text(sent), Text(expected)];
        if (!read.Order(StringComparer.Ordinal).SequenceEqual(wanted.Order(StringComparer.Ordinal)))
        {
            throw new InvalidDataException($"{name}: read {string.Join(" and ", read)}; expected {string.Join(" and ", wanted)}.");
        }
    }

    // Collections have no equality of their own.
    private static string Text(T value) => JsonSerializer.Serialize(value, Json);
}
