using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using QuickSilver.Endpoints;
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
    /// Adds a topic to publish and to subscribe. Inject <see cref="ITopic{T}"/>, <see cref="ITopicPublisher{T}"/> or
    /// <see cref="ITopicSubscriber{T}"/>, which are the same object; with <c>[FromKeyedServices(name)]</c> if several topics have the same
    /// payload type. The topic can be used immediately: calls wait until the node has joined. The host owns the topic, so do not dispose it
    /// where it is injected.
    /// </summary>
    /// <typeparam name="T">The payload type.</typeparam>
    /// <param name="name">The topic's name.</param>
    /// <param name="options">The options. Null: the defaults.</param>
    /// <param name="codec">The codec. Null: the codec of the type (bytes, string, or generated).</param>
    /// <exception cref="ArgumentException">The name is invalid, or the topic was already added.</exception>
    /// <exception cref="QuickSilverOptionsException">An option is invalid.</exception>
    public QuickSilverBuilder AddTopic<T>(string name, TopicOptions? options = null, IPayloadCodec<T>? codec = null) =>
        Add(
            name,
            TopicAccess.PublishAndSubscribe,
            options,
            codec,
            typeof(ITopic<T>),
            typeof(ITopicPublisher<T>),
            typeof(ITopicSubscriber<T>));

    /// <summary>
    /// Adds a topic to publish only. Inject <see cref="ITopicPublisher{T}"/>. The node does not receive the topic's messages for it.
    /// </summary>
    /// <inheritdoc cref="AddTopic{T}"/>
    public QuickSilverBuilder AddPublisher<T>(string name, TopicOptions? options = null, IPayloadCodec<T>? codec = null) =>
        Add(name, TopicAccess.Publish, options, codec, typeof(ITopicPublisher<T>));

    /// <summary>Adds a topic to subscribe only. Inject <see cref="ITopicSubscriber{T}"/>.</summary>
    /// <inheritdoc cref="AddTopic{T}"/>
    public QuickSilverBuilder AddSubscriber<T>(string name, TopicOptions? options = null, IPayloadCodec<T>? codec = null) =>
        Add(name, TopicAccess.Subscribe, options, codec, typeof(ITopicSubscriber<T>));

    /// <summary>
    /// Adds a singleton service that handles a topic's messages on the node's core thread. It has an endpoint of its own, which only
    /// subscribes.
    /// </summary>
    /// <typeparam name="T">The payload type.</typeparam>
    /// <typeparam name="THandler">The service.</typeparam>
    /// <param name="name">The topic's name.</param>
    /// <param name="options">The options. Null: the defaults.</param>
    /// <param name="codec">The codec. Null: the codec of the type (bytes, string, or generated).</param>
    public QuickSilverBuilder AddTopicHandler<T, THandler>(string name, TopicOptions? options = null, IPayloadCodec<T>? codec = null)
        where THandler : class, ITopicHandler<T>
    {
        var checkedOptions = Check(name, options);
        Services.TryAddSingleton<THandler>();
        Services.AddSingleton<IHostedTopic>(provider =>
        {
            var handler = provider.GetRequiredService<THandler>();
            var topic = new HostedTopic<T>(name, TopicAccess.Subscribe, checkedOptions, codec);
            topic.SubscribeInline(handler.Handle, handler.OnGap);
            return topic;
        });
        return this;
    }

    /// <summary>
    /// Adds a consumer, which handles a topic's messages outside the core thread and may wait. It has an endpoint of its own, which only
    /// subscribes. It is registered as a scoped service, unless it is registered already. When the host stops, it takes no more messages,
    /// and has 5 s to handle those that it has taken, before published messages are drained; then the token of its calls is cancelled. If
    /// it stops because of an error, the check <see cref="QuickSilverServiceCollectionExtensions.ReadyCheck"/> fails and names it.
    /// </summary>
    /// <typeparam name="T">The payload type.</typeparam>
    /// <typeparam name="TConsumer">The consumer.</typeparam>
    /// <param name="name">The topic's name.</param>
    /// <param name="consumer">
    /// The options of the consumer. Null: the defaults. Their callbacks are called before the methods of the consumer.
    /// </param>
    /// <param name="scope">For what a consumer is created. Default: for each message.</param>
    /// <param name="options">The options of the topic. Null: the defaults.</param>
    /// <param name="codec">The codec. Null: the codec of the type (bytes, string, or generated).</param>
    /// <exception cref="ArgumentException">The name is invalid.</exception>
    /// <exception cref="QuickSilverOptionsException">An option is invalid.</exception>
    public QuickSilverBuilder AddConsumer<T, TConsumer>(
        string name,
        ConsumerOptions<T>? consumer = null,
        ConsumerScope scope = ConsumerScope.Message,
        TopicOptions? options = null,
        IPayloadCodec<T>? codec = null)
        where TConsumer : class, IConsumer<T>
    {
        var checkedOptions = Check(name, options);
        consumer ??= new ConsumerOptions<T>();
        OptionRules.Check(consumer);
        if (!Enum.IsDefined(scope))
        {
            throw new ArgumentOutOfRangeException(nameof(scope), (int)scope, "Must be ConsumerScope.Message (0) or Consumer (1).");
        }

        Services.TryAddScoped<TConsumer>();
        Services.AddSingleton<IHostedTopic>(provider =>
        {
            var scoped = new ScopedConsumer<T, TConsumer>(provider.GetRequiredService<IServiceScopeFactory>(), scope, consumer);
            var topic = new HostedTopic<T>(name, TopicAccess.Subscribe, checkedOptions, codec);
            topic.Subscribe(scoped.ConsumeAsync, scoped.Options, typeof(TConsumer), scoped);
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

    // One object that is injected under each of its interfaces, with its name as the key, and without a key if no other has the type.
    private QuickSilverBuilder Add<T>(
        string name, TopicAccess access, TopicOptions? options, IPayloadCodec<T>? codec, params Type[] interfaces)
    {
        var checkedOptions = Check(name, options);
        if (Services.Any(service => service.IsKeyedService && interfaces.Contains(service.ServiceType) && Equals(service.ServiceKey, name)))
        {
            throw new ArgumentException($"Topic \"{name}\" of {typeof(T)} is already added. Add each topic once.", nameof(name));
        }

        object added = new();
        Services.AddKeyedSingleton(added, (_, _) => new HostedTopic<T>(name, access, checkedOptions, codec));
        Services.AddSingleton<IHostedTopic>(provider => provider.GetRequiredKeyedService<HostedTopic<T>>(added));
        foreach (var type in interfaces)
        {
            Services.AddKeyedSingleton(type, name, (provider, _) => provider.GetRequiredKeyedService<HostedTopic<T>>(added));
            Services.AddSingleton(new TopicOfType(type, name));
            Services.TryAdd(ServiceDescriptor.Singleton(type, provider => Sole(provider, type)));
        }

        return this;
    }

    private static object Sole(IServiceProvider provider, Type type)
    {
        var names = provider.GetServices<TopicOfType>().Where(topic => topic.Type == type).Select(static topic => topic.Name).ToArray();
        return names.Length == 1
            ? provider.GetRequiredKeyedService(type, names[0])
            : throw new InvalidOperationException(
                $"{names.Length} topics have the payload type {type.GenericTypeArguments[0]} ({string.Join(", ", names)}). "
                + "Inject one of them by name, with [FromKeyedServices(name)].");
    }

    // One for each interface of each added topic, so that the sole one can be injected without its name.
    private sealed record TopicOfType(Type Type, string Name);
}
