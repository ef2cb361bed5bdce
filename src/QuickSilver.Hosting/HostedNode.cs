using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;

namespace QuickSilver.Hosting;

// A node of a host: the one without a key, or one of those with keys. What belongs to it is registered with this object as its key.
internal sealed record HostedNode(string? Key)
{
    // Between the key of a node and the name of its topic, where both are the key of a service.
    public const char Separator = ':';

    /// <summary>The name of its options.</summary>
    public string OptionsName => Key ?? Options.DefaultName;

    /// <summary>For the start of a sentence about it.</summary>
    public string InWords => Key is null ? "The node" : $"The node \"{Key}\"";

    public string CheckName(string check) => Key is null ? check : $"{check}-{Key}";

    /// <summary>The key with which a topic of the node is injected.</summary>
    public string TopicKey(string topic) => Key is null ? topic : $"{Key}{Separator}{topic}";

    /// <summary>The application as a part of the node's name; null: the container is not that of a host.</summary>
    public string? ApplicationIn(IServiceProvider provider) => provider.GetService<IHostEnvironment>()?.ApplicationName is { } application
        ? Key is null ? application : $"{application}/{Key}"
        : null;

    public T Get<T>(IServiceProvider provider)
        where T : notnull => provider.GetRequiredKeyedService<T>(this);

    public IHostedTopic[] Topics(IServiceProvider provider) => [.. provider.GetKeyedServices<IHostedTopic>(this)];

    public QuickSilverOptions NodeOptions(IServiceProvider provider) =>
        provider.GetRequiredService<IOptionsMonitor<QuickSilverOptions>>().Get(OptionsName);

    public QuickSilverHostingOptions HostingOptions(IServiceProvider provider) =>
        provider.GetRequiredService<IOptionsMonitor<QuickSilverHostingOptions>>().Get(OptionsName);
}

// A topic that was added to a node, whose options configuration may change. There is one for each endpoint.
internal sealed record AddedTopic(string Name, TopicOptions Options, Type Payload, TopicAttribute? Declared);
