using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using QuickSilver.Serialization;
using QuickSilver.Topics;

namespace QuickSilver.Hosting;

/// <summary>Adds topics and their handlers to a host's node.</summary>
public sealed class QuickSilverBuilder
{
    internal QuickSilverBuilder(IServiceCollection services) => Services = services;

    /// <summary>The service collection.</summary>
    public IServiceCollection Services { get; }

    /// <summary>
    /// Adds a topic. Inject <see cref="ITopic{T}"/>, or <c>[FromKeyedServices(name)] ITopic&lt;T&gt;</c> if several topics have the same
    /// payload type. The topic can be used immediately: calls wait until the node has joined. The host owns the topic, so do not dispose it
    /// where it is injected.
    /// </summary>
    /// <typeparam name="T">The payload type.</typeparam>
    /// <param name="name">The topic's name.</param>
    /// <param name="options">The options. Null: the defaults.</param>
    /// <param name="codec">The codec. Null: the codec of the type (bytes, string, or generated).</param>
    public QuickSilverBuilder AddTopic<T>(string name, TopicOptions? options = null, IPayloadCodec<T>? codec = null)
    {
        var checkedOptions = Check(name, options);
        if (Services.Any(service => service.IsKeyedService && service.ServiceType == typeof(ITopic<T>) && Equals(service.ServiceKey, name)))
        {
            throw new ArgumentException($"Topic \"{name}\" of {typeof(T)} is already added. Add each topic once.", nameof(name));
        }

        Services.AddKeyedSingleton<ITopic<T>>(name, (_, _) => new HostedTopic<T>(name, checkedOptions, codec));
        Services.AddSingleton<IHostedTopic>(provider => (IHostedTopic)provider.GetRequiredKeyedService<ITopic<T>>(name));
        Services.AddSingleton(new TopicName<T>(name));
        Services.TryAddSingleton(static provider => Sole<T>(provider));
        return this;
    }

    /// <summary>
    /// Adds a singleton service that handles a topic's messages on the node's core thread. It has an endpoint of its own, which only
    /// subscribes.
    /// </summary>
    /// <typeparam name="T">The payload type.</typeparam>
    /// <typeparam name="THandler">The service.</typeparam>
    /// <param name="name">The topic's name.</param>
    /// <param name="options">The options. Null: the defaults. The access is always to subscribe.</param>
    /// <param name="codec">The codec. Null: the codec of the type (bytes, string, or generated).</param>
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
                $"{names.Length} topics have the payload type {typeof(T)} ({string.Join(", ", names)}). "
                + "Inject one of them by name, with [FromKeyedServices(name)].");
    }

    // One per AddTopic of the type, so that the sole one can be injected without its name.
    private sealed record TopicName<T>(string Name);
}
