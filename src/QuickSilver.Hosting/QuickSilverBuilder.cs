using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using QuickSilver.Serialization;
using QuickSilver.Topics;

namespace QuickSilver.Hosting;

/// <summary>Adds topics and their handlers to a host's node.</summary>
public sealed class QuickSilverBuilder
{
    internal QuickSilverBuilder(IServiceCollection services) => Services = services;

    /// <summary>The services being built.</summary>
    public IServiceCollection Services { get; }

    /// <summary>
    /// Adds a topic: inject <see cref="ITopic{T}"/>, or <c>[FromKeyedServices(name)] ITopic&lt;T&gt;</c> where there are
    /// several of one payload type. It can be used at once: what is asked of it before the node has joined waits for that.
    /// It lives as long as the host; who injects it does not dispose it.
    /// </summary>
    /// <typeparam name="T">The payload type.</typeparam>
    /// <param name="name">The topic's name.</param>
    /// <param name="options">Null: the defaults.</param>
    /// <param name="codec">Null: the codec of the type (bytes, string, or generated).</param>
    public QuickSilverBuilder AddTopic<T>(string name, TopicOptions? options = null, IPayloadCodec<T>? codec = null)
    {
        var checkedOptions = Check(name, options);
        if (Services.Any(service => service.IsKeyedService && service.ServiceType == typeof(ITopic<T>) && Equals(service.ServiceKey, name)))
        {
            throw new ArgumentException($"The topic \"{name}\" of {typeof(T)} was added already.", nameof(name));
        }

        Services.AddKeyedSingleton<ITopic<T>>(name, (_, _) => new HostedTopic<T>(name, checkedOptions, codec));
        Services.AddSingleton<IHostedTopic>(provider => (IHostedTopic)provider.GetRequiredKeyedService<ITopic<T>>(name));
        Services.AddSingleton(new TopicName<T>(name));
        Services.TryAddSingleton(static provider => Sole<T>(provider));
        return this;
    }

    /// <summary>
    /// Adds a service that handles a topic's messages on the node's core thread, from an endpoint of its own that only
    /// subscribes. The service is a singleton.
    /// </summary>
    /// <typeparam name="T">The payload type.</typeparam>
    /// <typeparam name="THandler">The service.</typeparam>
    /// <param name="name">The topic's name.</param>
    /// <param name="options">Null: the defaults. The access is always to subscribe.</param>
    /// <param name="codec">Null: the codec of the type (bytes, string, or generated).</param>
    public QuickSilverBuilder AddTopicHandler<T, THandler>(string name, TopicOptions? options = null, IPayloadCodec<T>? codec = null)
        where THandler : class, ITopicHandler<T>
    {
        var checkedOptions = Check(name, options) with { Access = TopicAccess.Subscribe };
        Services.TryAddSingleton<THandler>();
        Services.AddSingleton<IHostedTopic>(provider =>
        {
            var handler = provider.GetRequiredService<THandler>();
            var topic = new HostedTopic<T>(name, checkedOptions, codec);
            topic.Handle(handler.Handle, handler.OnGap);
            return topic;
        });
        return this;
    }

    private static TopicOptions Check(string name, TopicOptions? options)
    {
        TopicName.Check(name);
        options ??= new TopicOptions();
        OptionRules.Check(options);
        return options;
    }

    private static ITopic<T> Sole<T>(IServiceProvider provider)
    {
        var names = provider.GetServices<TopicName<T>>().Select(static topic => topic.Name).ToArray();
        return names.Length == 1
            ? provider.GetRequiredKeyedService<ITopic<T>>(names[0])
            : throw new InvalidOperationException(
                $"There are {names.Length} topics of {typeof(T)} ({string.Join(", ", names)}): "
                + "inject one by its name, with [FromKeyedServices(name)].");
    }

    // One per AddTopic of the type, so that the sole one can be injected without its name.
    private sealed record TopicName<T>(string Name);
}
